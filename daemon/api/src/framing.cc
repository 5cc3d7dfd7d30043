#include "framing.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "breakwatch/core/text.h"
#include "quoted.h"

namespace breakwatch::api {
namespace {

// The default content type of `curl -d` also counts as JSON.
constexpr std::array<std::string_view, 2> kBodies = {"application/json", "application/x-www-form-urlencoded"};

// The announced length; 0 if there is none; nullopt if it is not a number.
std::optional<std::uint64_t> LengthOf(const httplib::Request& request) {
  if (!request.has_header("Content-Length")) return 0;
  const std::string text = request.get_header_value("Content-Length");
  std::uint64_t length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return length;
}

std::optional<Refusal> CheckType(const httplib::Request& request) {
  const std::string header = request.get_header_value("Content-Type");
  const std::string type = Lower(Trim(std::string_view(header).substr(0, header.find(';'))));
  if (type.empty() || std::find(kBodies.begin(), kBodies.end(), type) != kBodies.end()) return std::nullopt;
  return Refusal{415, "a body of type " + Quoted(type) + " is not supported; send application/json"};
}

}  // namespace

bool AnnouncesBody(const httplib::Request& request) {
  return request.has_header("Transfer-Encoding") || LengthOf(request).value_or(1) > 0;
}

std::optional<Refusal> CheckLength(const httplib::Request& request) {
  const bool has_length = request.has_header("Content-Length"), has_coding = request.has_header("Transfer-Encoding");
  if (request.get_header_value_count("Content-Length") > 1 || (has_length && has_coding)) {
    return Refusal{400, "the request has more than one length"};
  }
  if (has_coding && request.get_header_value("Transfer-Encoding") != "chunked") {
    return Refusal{501, "Transfer-Encoding " + Quoted(request.get_header_value("Transfer-Encoding")) +
                            " is not supported; use chunked, or a Content-Length"};
  }
  const auto length = LengthOf(request);
  if (!length) {
    return Refusal{400, "Content-Length " + Quoted(request.get_header_value("Content-Length")) + " is not a number"};
  }
  if (*length > kMaxBodyBytes) return Refusal{413, "the body is longer than 64 KiB"};
  return std::nullopt;
}

std::optional<Refusal> CheckBody(const httplib::Request& request) {
  if (!AnnouncesBody(request)) return std::nullopt;
  if (request.method != "POST") return Refusal{400, "a " + request.method + " request must not have a body"};
  return CheckType(request);
}

}  // namespace breakwatch::api
