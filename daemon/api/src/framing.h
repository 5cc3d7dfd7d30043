// Framing: checks the request line and the headers before a byte of the body is read.
//
// If a body has no announced length, the library waits for its read timeout. It also takes an invalid Content-Length
// for 0 or for a very large number. So this check rejects requests without a handler or with invalid framing.
#pragma once

#include <httplib.h>

#include <cstddef>
#include <optional>
#include <string>

namespace breakwatch::api {

inline constexpr std::size_t kMaxBodyBytes = 64 * 1024;

struct Refusal {
  int status = 400;
  std::string message;
  std::string allow{};  // methods, of a 405
};

// nullopt: the request is passed to its handler.
std::optional<Refusal> CheckFraming(const httplib::Request& request);

// True if the request announces a body.
bool AnnouncesBody(const httplib::Request& request);

}  // namespace breakwatch::api
