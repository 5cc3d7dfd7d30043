#include "answers.h"

#include <algorithm>
#include <string_view>

#include "breakwatch/net/answer.h"

namespace breakwatch::exporters {
namespace {

constexpr net::AnswerMeaning kMeanings[] = {
    {260, 260, Delivery::kTryAgain, true, "Loki blocks ingestion for this tenant"},  // a 2xx, but nothing is stored
    {204, 204, Delivery::kDelivered, false, "", true},
    {200, 200, Delivery::kDelivered, false, "", true},  // from other servers with Loki's protocol
    {200, 299, Delivery::kTryAgain, true, "not an answer of Loki (expected 204 without a body): check the URL"},
    {300, 399, Delivery::kTryAgain, true, "a redirect: set its target as the URL"},
    {400, 400, Delivery::kRefused, false, "Loki refused entries"},
    {401, 401, Delivery::kTryAgain, true, "Loki rejects the credentials or the tenant"},
    {403, 403, Delivery::kTryAgain, true, "Loki denies the push"},
    {408, 408, Delivery::kTryAgain, false, "Loki timed out"},
    {413, 413, Delivery::kRefused, false, "the push is too large"},
    {422, 422, Delivery::kRefused, false, "Loki refused entries"},
    {429, 429, Delivery::kTryAgain, false, "Loki limits the rate"},
    {400, 499, Delivery::kTryAgain, true, "not an answer of Loki: check the URL"},
    {500, 599, Delivery::kTryAgain, false, "Loki has an internal error"},
};

// Loki's messages about single entries. Other errors, such as limits of labels or an invalid body, apply equally to all
// our events.
constexpr std::string_view kOfEntries[] = {
    "timestamp too old", "timestamp too new", "entry too far behind", "entry out of order", "ax entry size",
};

}  // namespace

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer, std::size_t events) {
  Outcome outcome = net::OutcomeOf(answer, "push to Loki", kMeanings);
  const int status = answer ? answer->status : 0;
  const bool too_slow = answer ? status == 408 || status == 504 : net::IsTimeout(answer.error());
  outcome.smaller = events > 1 && (too_slow || status == 413 || status == 429);
  if (status == 413 && outcome.smaller) outcome.delivery = Delivery::kTryAgain;
  if (outcome.delivery != Delivery::kRefused) return outcome;
  outcome.names_events = status == 413 || std::ranges::any_of(kOfEntries, [&](std::string_view text) {
                           return answer->body.find(text) != std::string::npos;
                         });
  return outcome;
}

bool MayHaveStored(const Result<net::HttpResponse>& answer) {
  if (!answer || answer->status >= 500 || answer->status == 408) return true;
  if (answer->status < 300) return answer->status != 260;  // a text in place of Loki's answer
  // The rate of a stream can be exceeded by some entries of a push only.
  return answer->status == 429 && answer->body.find("total ignored: ") != std::string::npos;
}

}  // namespace breakwatch::exporters
