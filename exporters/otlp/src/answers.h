// Reads a receiver's answer to a request with metrics or logs. Its bytes come from outside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters::otlp {

// Of a request that was accepted: data points or log records that were not, and why. Without any, `message` is a
// warning, or empty.
struct PartialSuccess {
  std::int64_t rejected = 0;
  std::string message;  // one line
};

// The body of a 2xx. nullopt: it is not from an OTLP receiver.
std::optional<PartialSuccess> ReadSuccess(std::string_view content_type, std::string_view body);
// The message in the body of an error, a google.rpc.Status; nullopt if it is none.
std::optional<std::string> ReadStatus(std::string_view content_type, std::string_view body);

struct Answer {
  Outcome outcome;
  PartialSuccess partial{};  // of a kDelivered
  bool too_large = false;    // 413
  bool slow_down = false;    // time-outs, 429: fewer records at once may be accepted
};
// `what` begins the outcome's detail.
Answer ReadAnswer(const Result<net::HttpResponse>& response, const std::string& what);

}  // namespace breakwatch::exporters::otlp
