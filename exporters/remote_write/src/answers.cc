#include "answers.h"

#include <algorithm>
#include <string_view>

#include "breakwatch/core/text.h"
#include "breakwatch/net/answer.h"

namespace breakwatch::exporters {
namespace {

constexpr net::AnswerMeaning kMeanings[] = {
    {200, 299, Delivery::kDelivered, false, ""},
    {300, 399, Delivery::kTryAgain, true, "a redirect: set its target as the URL"},
    {400, 400, Delivery::kRefused, false, "the receiver refused samples"},
    {401, 401, Delivery::kTryAgain, true,
     "the receiver rejects the credentials: check username and password, or the bearer token"},
    {403, 403, Delivery::kTryAgain, true, "the receiver denies the write: check the credentials and the tenant"},
    {404, 404, Delivery::kTryAgain, true,
     "no receiver at this URL: check its path; Prometheus needs --web.enable-remote-write-receiver"},
    {408, 408, Delivery::kTryAgain, false, "the receiver timed out"},
    {409, 409, Delivery::kRefused, false, "the receiver refused samples"},  // Thanos: out of order
    {413, 413, Delivery::kTryAgain, false, "the request is too large"},
    {415, 415, Delivery::kTryAgain, true, "the receiver does not speak remote write 1.0"},
    {422, 422, Delivery::kRefused, false, "the receiver refused samples"},
    {429, 429, Delivery::kTryAgain, false, "the receiver limits the rate"},
    {400, 499, Delivery::kTryAgain, true, "not an answer of a remote write receiver: check the URL"},
    {500, 599, Delivery::kTryAgain, false, "the receiver has an internal error"},
};
// A page in place of an answer: a proxy asks for a login.
constexpr net::AnswerMeaning kPage[] = {
    {200, 299, Delivery::kTryAgain, true, "not an answer of a remote write receiver: check the URL"},
};

// What the receivers' own texts (Prometheus, Mimir, Thanos, Cortex) mean for the operator.
struct Hint {
  std::string_view phrase, text;
};
constexpr std::string_view kTwoSenders =
    "two daemons write the same series (set another pool or instance in each), or the clock went back";
constexpr Hint kHints[] = {
    {"out of order", kTwoSenders},
    {"out-of-order", kTwoSenders},
    {"duplicate", kTwoSenders},
    {"out of bounds", "the samples are too old or too new: check the clocks"},
    {"too old", "the samples are too old: check the clocks"},
    {"too far in", "the samples are in the future: check the clocks"},
    {"max-series", "the tenant's limit of series: raise it, or publish fewer (metrics.drop, metrics.phases)"},
};

void AddHint(std::string_view body, Outcome& outcome) {
  const std::string text = Lower(body);
  const auto hint =
      std::ranges::find_if(kHints, [&](const Hint& known) { return text.find(known.phrase) != text.npos; });
  if (hint != std::end(kHints)) outcome.detail += "; " + std::string(hint->text);
}

bool IsPage(const net::HttpResponse& answer) {
  return Lower(answer.Header("content-type").value_or("")).starts_with("text/html") && !Trim(answer.body).empty();
}

}  // namespace

Outcome OutcomeOfWrite(const Result<net::HttpResponse>& answer) {
  constexpr char kWhat[] = "remote write";
  if (answer && answer->status / 100 == 2 && IsPage(*answer)) return net::OutcomeOf(answer, kWhat, kPage);
  Outcome outcome = net::OutcomeOf(answer, kWhat, kMeanings);
  outcome.smaller = answer && answer->status == 413;
  if (outcome.delivery == Delivery::kRefused) AddHint(answer->body, outcome);
  return outcome;
}

bool WriteMayBeStored(const Result<net::HttpResponse>& answer) {
  return answer ? answer->status / 100 != 3 && answer->status / 100 != 4 : net::IsTimeout(answer.error());
}

}  // namespace breakwatch::exporters
