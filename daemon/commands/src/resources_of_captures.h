// What captures of this machine are given: its memory, and what the user says of inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::commands {

// Bytes that this machine, or the control group this process is in, can still give; nullopt: it does not say.
std::optional<std::int64_t> AvailableMemory();

// The file of capture.inputs_file: JSON objects by model id or "model_type:NAME". An empty path: none. Error: kConfig.
Result<std::map<std::string, std::string>> ReadInputsFile(const std::string& path);

}  // namespace breakwatch::commands
