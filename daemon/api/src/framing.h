// Framing: what is answered from the request line and the headers alone, before a byte of a body is read.
//
// The library waits for its read time-out where a body has no announced length, and takes a Content-Length that is no
// number for 0 or for a very large one. So whatever has no handler, or no sound frame, ends here.
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

// Nothing: the request goes on to its handler.
std::optional<Refusal> CheckFraming(const httplib::Request& request);

// Whether the request says that a body follows.
bool AnnouncesBody(const httplib::Request& request);

}  // namespace breakwatch::api
