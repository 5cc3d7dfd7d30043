// What an HTTP answer means for a delivery. Each exporter has a table; the rest is the same for all.
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
  bool slow;  // a person must change something first: retry slowly
  std::string_view advice;
  bool only_without_body = false;  // this row covers only an answer without a body
};

// The first row that covers the status decides; without one it is kTryAgain, slowly. `what` begins the detail, which
// is one line and quotes the answer's body. Retry-After is respected. An error that no retry fixes, such as an expired
// certificate, is retried slowly too.
Outcome OutcomeOf(const Result<HttpResponse>& answer, const std::string& what, std::span<const AnswerMeaning> meanings);

}  // namespace breakwatch::net
