// Tables and documents as JSON values.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "breakwatch/report/table.h"

namespace breakwatch::report {

using Json = nlohmann::ordered_json;

Json RowsAsJson(const Table& table);
// Indented, with invalid UTF-8 replaced, and a final newline.
std::string Dump(const Json& json);

}  // namespace breakwatch::report
