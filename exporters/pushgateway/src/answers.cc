#include "answers.h"

#include <algorithm>

#include "breakwatch/core/text.h"

namespace breakwatch::exporters {
namespace {

using std::chrono::milliseconds;

// A person has to change something first: hammering does not help, and giving up would hide it.
constexpr milliseconds kSlow{60'000};

struct Meaning {
  int from, to;  // statuses, both included
  Delivery delivery;
  bool slow;
  std::string_view advice;
};

constexpr Meaning kMeanings[] = {
    {200, 200, Delivery::kDelivered, false, ""},
    {202, 202, Delivery::kDelivered, false, ""},  // a gateway that runs without its consistency check
    {201, 299, Delivery::kTryAgain, true, "not an answer of a Pushgateway: check the URL"},
    {300, 399, Delivery::kTryAgain, true, "a redirect: set its target as the URL"},
    {400, 400, Delivery::kRefused, false, "the gateway refused the series"},
    {401, 401, Delivery::kTryAgain, true, "the gateway wants other credentials: check username and password"},
    {403, 403, Delivery::kTryAgain, true, "the gateway forbids us to push: check username and password"},
    {408, 408, Delivery::kTryAgain, false, "the gateway gave up waiting"},
    {413, 413, Delivery::kRefused, false, "too large for a proxy before the gateway: raise its bound, or set shards"},
    {429, 429, Delivery::kTryAgain, false, "the gateway asks us to slow down"},
    {400, 499, Delivery::kTryAgain, true, "not an answer of a Pushgateway: check the URL"},
    {500, 599, Delivery::kTryAgain, false, "the gateway is in trouble"},
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

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer, const std::string& what) {
  if (!answer) return {Delivery::kTryAgain, what + ": " + answer.error().message, answer.error().after};
  const auto covers = [&](const Meaning& meaning) {
    return meaning.from <= answer->status && answer->status <= meaning.to;
  };
  const auto found = std::find_if(std::begin(kMeanings), std::end(kMeanings), covers);
  const Meaning& meaning = found == std::end(kMeanings) ? kUnknown : *found;
  if (meaning.delivery == Delivery::kDelivered) return {};
  Outcome outcome{
      meaning.delivery, what + ": " + std::to_string(answer->status) + ", " + std::string(meaning.advice), {}};
  if (const std::string body = OneLine(answer->body); !body.empty()) outcome.detail += ": " + body;
  if (meaning.delivery == Delivery::kTryAgain) {
    outcome.after = net::RetryAfter(*answer);
    if (!outcome.after && meaning.slow) outcome.after = kSlow;
  }
  return outcome;
}

}  // namespace breakwatch::exporters
