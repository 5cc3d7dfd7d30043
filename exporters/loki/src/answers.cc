#include "answers.h"

#include <algorithm>

#include "breakwatch/core/text.h"

namespace breakwatch::exporters {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kSlow{60'000};  // a person has to change something first

struct Meaning {
  int from, to;  // statuses, both included
  Delivery delivery;
  bool slow;
  std::string_view advice;
};

// The first row that covers a status decides.
constexpr Meaning kMeanings[] = {
    {260, 260, Delivery::kTryAgain, true, "Loki blocks ingestion for this tenant"},  // a 2xx, and yet nothing is stored
    {200, 299, Delivery::kDelivered, false, ""},
    {300, 399, Delivery::kTryAgain, true, "a redirect: set its target as the URL"},
    {400, 400, Delivery::kRefused, false, "Loki refused entries"},
    {401, 401, Delivery::kTryAgain, true, "Loki wants other credentials or a tenant"},
    {403, 403, Delivery::kTryAgain, true, "Loki forbids us to push"},
    {408, 408, Delivery::kTryAgain, false, "Loki gave up waiting"},
    {413, 413, Delivery::kRefused, false, "the push is too large"},
    {422, 422, Delivery::kRefused, false, "Loki refused entries"},
    {429, 429, Delivery::kTryAgain, false, "Loki asks us to slow down"},
    {400, 499, Delivery::kTryAgain, true, "not an answer of Loki: check the URL"},
    {500, 599, Delivery::kTryAgain, false, "Loki is in trouble"},
};
constexpr Meaning kUnknown{0, 0, Delivery::kTryAgain, true, "an answer that HTTP does not know"};

std::string OneLine(std::string_view body) {
  constexpr std::size_t kMaxDetailBytes = 500;
  std::string text = ToUtf8(body.substr(0, 4 * kMaxDetailBytes));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20; }, ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return Truncate(text, kMaxDetailBytes);
}

}  // namespace

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer) {
  if (!answer) return {Delivery::kTryAgain, "push to Loki: " + answer.error().message, answer.error().after};
  const auto covers = [&](const Meaning& meaning) {
    return meaning.from <= answer->status && answer->status <= meaning.to;
  };
  const auto found = std::find_if(std::begin(kMeanings), std::end(kMeanings), covers);
  const Meaning& meaning = found == std::end(kMeanings) ? kUnknown : *found;
  if (meaning.delivery == Delivery::kDelivered) return {};
  Outcome outcome{
      meaning.delivery, "push to Loki: " + std::to_string(answer->status) + ", " + std::string(meaning.advice), {}};
  if (const std::string body = OneLine(answer->body); !body.empty()) outcome.detail += ": " + body;
  if (meaning.delivery == Delivery::kTryAgain) {
    outcome.after = net::RetryAfter(*answer);
    if (!outcome.after && meaning.slow) outcome.after = kSlow;
  }
  return outcome;
}

}  // namespace breakwatch::exporters
