// Lines over the control socket: bounded reads, and the messages both ends speak.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::api {

inline constexpr std::size_t kMaxControlLine = 64u << 20;

// Reads a line from `fd`, keeping what follows in `pending`. Nothing at the end of the stream, on an error, or
// when the line is longer than kMaxControlLine.
std::optional<std::string> ReadLine(int fd, std::string& pending);
// Writes all or says false; never raises SIGPIPE.
bool WriteAll(int fd, const std::string& bytes);

nlohmann::json ToMessage(const Error& error);
Error ErrorFromMessage(const nlohmann::json& message);

}  // namespace breakwatch::api
