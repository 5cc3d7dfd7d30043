// The file of capture.inputs_file: what models are called with.
#pragma once

#include <map>
#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::config {

// JSON objects by model id or "model_type:NAME". An empty path: none. Error: kConfig, with the path.
Result<std::map<std::string, std::string>> ReadInputsFile(const std::string& path);

}  // namespace breakwatch::config
