#include "breakwatch/net/answer.h"

#include <algorithm>

#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"

namespace breakwatch::net {
namespace {

constexpr std::chrono::milliseconds kSlow{60'000};
constexpr AnswerMeaning kUnknown{0, 0, Delivery::kTryAgain, true, "unknown HTTP status"};
constexpr std::size_t kMaxDetailBytes = 500;

}  // namespace

Outcome OutcomeOf(const Result<HttpResponse>& answer, const std::string& what,
                  std::span<const AnswerMeaning> meanings) {
  if (!answer) {
    const Error& error = answer.error();
    Outcome outcome{Delivery::kTryAgain, what + ": " + error.message, error.after};
    outcome.needs_person = !error.retryable;  // a certificate, a URL, a server of another kind
    if (outcome.needs_person && !outcome.after) outcome.after = kSlow;
    return outcome;
  }
  const auto covers = [&](const AnswerMeaning& meaning) {
    if (meaning.only_without_body && !Trim(answer->body).empty()) return false;
    return meaning.from <= answer->status && answer->status <= meaning.to;
  };
  const auto found = std::find_if(meanings.begin(), meanings.end(), covers);
  const AnswerMeaning& meaning = found == meanings.end() ? kUnknown : *found;
  if (meaning.delivery == Delivery::kDelivered) return {};
  Outcome outcome{
      meaning.delivery, what + ": " + std::to_string(answer->status) + ", " + std::string(meaning.advice), {}};
  const auto target = answer->Header("location");
  if (target && answer->status / 100 == 3) outcome.detail += ": " + ShortLine(PrintableUrl(*target), kMaxDetailBytes);
  if (const std::string body = ShortLine(Trim(answer->body), kMaxDetailBytes); !body.empty()) {
    // If a success must have no body, the content type of a body indicates who answered.
    if (answer->status < 300)
      outcome.detail += ": " + ShortLine(answer->Header("content-type").value_or("no content type"), kMaxDetailBytes);
    outcome.detail += ": " + body;
  }
  if (meaning.delivery == Delivery::kTryAgain) {
    outcome.after = RetryAfter(*answer);
    outcome.needs_person = meaning.slow;
    if (!outcome.after && meaning.slow) outcome.after = kSlow;
  }
  return outcome;
}

}  // namespace breakwatch::net
