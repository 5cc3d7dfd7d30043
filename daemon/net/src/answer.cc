#include "breakwatch/net/answer.h"

#include <algorithm>

#include "breakwatch/core/text.h"

namespace breakwatch::net {
namespace {

constexpr std::chrono::milliseconds kSlow{60'000};
constexpr AnswerMeaning kUnknown{0, 0, Delivery::kTryAgain, true, "unknown HTTP status"};

std::string OneLine(std::string_view body) {
  constexpr std::size_t kMaxDetailBytes = 500;
  std::string text = ToUtf8(body.substr(0, 4 * kMaxDetailBytes));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return Truncate(text, kMaxDetailBytes);
}

}  // namespace

Outcome OutcomeOf(const Result<HttpResponse>& answer, const std::string& what,
                  std::span<const AnswerMeaning> meanings) {
  if (!answer) return {Delivery::kTryAgain, what + ": " + answer.error().message, answer.error().after};
  const auto covers = [&](const AnswerMeaning& meaning) {
    if (meaning.only_without_body && answer->body.find_first_not_of(" \t\r\n") != std::string::npos) return false;
    return meaning.from <= answer->status && answer->status <= meaning.to;
  };
  const auto found = std::find_if(meanings.begin(), meanings.end(), covers);
  const AnswerMeaning& meaning = found == meanings.end() ? kUnknown : *found;
  if (meaning.delivery == Delivery::kDelivered) return {};
  Outcome outcome{
      meaning.delivery, what + ": " + std::to_string(answer->status) + ", " + std::string(meaning.advice), {}};
  if (const std::string body = OneLine(answer->body); !body.empty()) {
    // If a success must have no body, the content type of a body indicates who answered.
    if (answer->status < 300)
      outcome.detail += ": " + OneLine(answer->Header("content-type").value_or("no content type"));
    outcome.detail += ": " + body;
  }
  if (meaning.delivery == Delivery::kTryAgain) {
    outcome.after = RetryAfter(*answer);
    if (!outcome.after && meaning.slow) outcome.after = kSlow;
  }
  return outcome;
}

}  // namespace breakwatch::net
