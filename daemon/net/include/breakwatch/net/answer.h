// What an HTTP answer means for what was sent. Each exporter says it as a table; the rest is the same for all.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::net {

struct AnswerMeaning {
  int from, to;  // statuses, both included
  Delivery delivery;
  bool slow;  // a person has to change something first: hammering does not help, and giving up would hide it
  std::string_view advice;
  bool only_without_body = false;  // this row covers only an answer without a body
};

// The first row that covers the status decides; without one it is kTryAgain, slowly. `what` begins the detail, which
// is one line and quotes the answer's body. A server's Retry-After is obeyed.
Outcome OutcomeOf(const Result<HttpResponse>& answer, const std::string& what, std::span<const AnswerMeaning> meanings);

}  // namespace breakwatch::net
