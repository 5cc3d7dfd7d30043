#include "problem.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch::api {
namespace {

struct Known {
  int status;
  std::string_view phrase, code;
};
constexpr std::array<Known, 18> kKnown = {{
    {200, "OK", ""},
    {202, "Accepted", ""},
    {304, "Not Modified", ""},
    {400, "Bad Request", "usage"},
    {401, "Unauthorized", "unauthorized"},
    {403, "Forbidden", "forbidden"},
    {404, "Not Found", "not_found"},
    {405, "Method Not Allowed", "method_not_allowed"},
    {408, "Request Timeout", "usage"},
    {409, "Conflict", "invalid"},
    {413, "Content Too Large", "too_long"},
    {414, "URI Too Long", "too_long"},
    {415, "Unsupported Media Type", "unsupported_type"},
    {421, "Misdirected Request", "misdirected"},
    {431, "Request Header Fields Too Large", "too_long"},
    {500, "Internal Server Error", "internal"},
    {501, "Not Implemented", "usage"},
    {503, "Service Unavailable", "unavailable"},
}};

Known Of(int status) {
  const auto found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.status == status; });
  return found == kKnown.end() ? Known{status, "Error", status < 500 ? "usage" : "internal"} : *found;
}

std::string Document(int status, const std::string& detail, std::string_view code) {
  const nlohmann::ordered_json document = {{"type", "about:blank"},
                                           {"title", Of(status).phrase},
                                           {"status", status},
                                           {"detail", ToUtf8(detail)},
                                           {"code", code}};
  return JsonDocument(document, 1);
}

}  // namespace

std::string_view StatusPhrase(int status) { return Of(status).phrase; }

int HttpStatus(const Error& error) {
  switch (error.code) {
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kUsage:
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

std::string_view CodeName(ErrorCode code) {
  constexpr std::string_view kNames[] = {"usage",     "configuration", "store",       "unavailable",
                                         "not_found", "invalid",       "interrupted", "internal"};
  return kNames[static_cast<std::size_t>(code)];
}

std::string ProblemDocument(int status, const std::string& detail) { return Document(status, detail, Of(status).code); }
std::string ProblemDocument(const Error& error) {
  return Document(HttpStatus(error), error.message, CodeName(error.code));
}

}  // namespace breakwatch::api
