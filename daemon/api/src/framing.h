// Framing: checks the headers that announce a body before a byte of it is read.
//
// If a body has no announced length, the library waits for its read timeout. It also takes an invalid Content-Length
// for 0 or for a very large number. So these checks reject requests with invalid framing.
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

// nullopt: the length of the body is known or announced to be chunked.
std::optional<Refusal> CheckLength(const httplib::Request& request);
// nullopt: the request has no body, or one that its method and the server take.
std::optional<Refusal> CheckBody(const httplib::Request& request);

// True if the request announces a body.
bool AnnouncesBody(const httplib::Request& request);

}  // namespace breakwatch::api
