// Lines over the control socket: bounded reads, and the messages of both ends.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::api {

inline constexpr std::size_t kMaxControlLine = 64u << 20;

// Reads a line from `fd` and keeps the rest in `pending`. nullopt at the end of the stream, on an error, or if the line
// is longer than kMaxControlLine.
std::optional<std::string> ReadLine(int fd, std::string& pending);
// Writes all bytes. False on an error; never raises SIGPIPE.
bool WriteAll(int fd, const std::string& bytes);

nlohmann::json ToMessage(const Error& error);
Error ErrorFromMessage(const nlohmann::json& message);

}  // namespace breakwatch::api
