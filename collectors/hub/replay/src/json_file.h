// The only place that parses the JSON of a recording: reads it with a size limit, checks it, then parses it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch::hub_replay {

using Json = nlohmann::json;

inline constexpr int kMaxDepth = 64;
inline constexpr std::size_t kMaxLine = 1u << 20;
inline constexpr std::size_t kMaxFile = 256u << 20;

// Error: kInvalid.
Result<Json> ParseChecked(std::string_view text, std::size_t max_bytes);
// nullopt if there is no such regular file. Error: kInvalid if it exceeds `max_bytes`, kStore if it cannot be read.
Result<std::optional<std::string>> ReadIfThere(const std::filesystem::path& path, std::size_t max_bytes);
// A text field, or empty.
std::string Text(const Json& object, const char* key);

}  // namespace breakwatch::hub_replay
