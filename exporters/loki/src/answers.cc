#include "answers.h"

#include "breakwatch/net/answer.h"

namespace breakwatch::exporters {
namespace {

constexpr net::AnswerMeaning kMeanings[] = {
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

}  // namespace

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer) {
  return net::OutcomeOf(answer, "push to Loki", kMeanings);
}

}  // namespace breakwatch::exporters
