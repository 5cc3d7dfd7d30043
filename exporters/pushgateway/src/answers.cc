#include "answers.h"

#include "breakwatch/net/answer.h"

namespace breakwatch::exporters {
namespace {

constexpr net::AnswerMeaning kMeanings[] = {
    {200, 200, Delivery::kDelivered, false, "", true},
    {202, 202, Delivery::kDelivered, false, "", true},  // a gateway without its consistency check
    {200, 299, Delivery::kTryAgain, true,
     "not an answer of a Pushgateway (expected 200 or 202 without a body): check the URL"},
    {300, 399, Delivery::kTryAgain, true, "a redirect: set its target as the URL"},
    {400, 400, Delivery::kRefused, false, "the gateway refused the series"},
    {401, 401, Delivery::kTryAgain, true, "the gateway rejects the credentials: check username and password"},
    {403, 403, Delivery::kTryAgain, true, "the gateway denies the push: check username and password"},
    {408, 408, Delivery::kTryAgain, false, "the gateway timed out"},
    {413, 413, Delivery::kRefused, false,
     "too large for a proxy in front of the gateway: raise its limit, or set exporters.pushgateway.shards"},
    {429, 429, Delivery::kTryAgain, false, "the gateway limits the rate"},
    {400, 499, Delivery::kTryAgain, true, "not an answer of a Pushgateway: check the URL"},
    {500, 599, Delivery::kTryAgain, false, "the gateway has an internal error"},
};

}  // namespace

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer, const std::string& what) {
  Outcome outcome = net::OutcomeOf(answer, what, kMeanings);
  if (outcome.delivery == Delivery::kRefused && answer->body.find("was collected before") != std::string::npos) {
    outcome.detail +=
        "; another group has the same series: if two daemons push to this gateway, set a different "
        "exporters.pushgateway.pool in each; if the group is of an earlier layout, delete it";
  }
  return outcome;
}

}  // namespace breakwatch::exporters
