// Reads JSON of unknown structure: every accessor accepts any value and returns a default for another type.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::hub {

using Json = nlohmann::json;

// Checks size and depth before parsing. Error: kInvalid.
Result<Json> ParseJson(std::string_view text, std::size_t max_bytes, int max_depth);

// The member, or null if `object` is not an object or does not have it.
const Json& Member(const Json& object, const char* name);
// Valid UTF-8 of at most 200 bytes; empty if it is not a string.
std::string TextAt(const Json& object, const char* name);
std::optional<std::int64_t> IntegerAt(const Json& object, const char* name);
std::optional<double> NumberAt(const Json& object, const char* name);
bool BoolAt(const Json& object, const char* name);
// The strings of a list, at most `max_items`.
std::vector<std::string> TextsAt(const Json& object, const char* name, std::size_t max_items);

}  // namespace breakwatch::hub
