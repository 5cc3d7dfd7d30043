// A Hub that fails, stalls or sends wrong data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/temporary_directory.h"
#include "hub/scripted_hub.h"

namespace breakwatch::hub {
namespace {

using namespace breakwatch::testing;
using fakes::TemporaryDirectory;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

const std::string kBert = R"({"model_type":"bert"})";

std::string ConfigPath(const std::string& id, const std::string& sha = kCommitA) {
  return "/" + id + "/resolve/" + sha + "/config.json";
}

TEST(HubFaultsTest, Retries429AndServerFaultsUntilItSucceeds) {
  ScriptedHub hub;
  hub.On("/api/models", {503, {}, "<html>"});
  hub.On("/api/models", Json("[" + Entry("a/1", kCommitA) + "]"));
  hub.On(ConfigPath("a/1"), {429, {}, "<html>slow down"});
  hub.On(ConfigPath("a/1"), {.hang_up = true});
  hub.On(ConfigPath("a/1"), {500, {}, ""});
  hub.On(ConfigPath("a/1"), Json(kBert));
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_FALSE(list->models.at(0).excluded) << list->models[0].detail;
}

TEST(HubFaultsTest, WaitsAsLongAsTheServerRequests) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA)});
  hub.On(ConfigPath("a/1"), {429, {{"Retry-After", "1"}}, ""});
  hub.On(ConfigPath("a/1"), Json(kBert));
  const auto start = std::chrono::steady_clock::now();
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->models.at(0).excluded);
  EXPECT_GE(std::chrono::steady_clock::now() - start, 1s);
}

TEST(HubFaultsTest, DoesNotWaitIfTheServerRequestsTooLongAPause) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA)});
  hub.On(ConfigPath("a/1"), {503, {{"Retry-After", "3600"}}, ""});
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok() == false || list->models.at(0).excluded == Status::kFailedResolve);
  EXPECT_THAT(hub.Requests("/a/"), SizeIs(1));
}

TEST(HubFaultsTest, PausesBeforeTheRateLimitIsSpent) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA) + "," + Entry("a/2", kCommitA) + "," + Entry("a/3", kCommitA)});
  for (const char* id : {"a/1", "a/2", "a/3"}) {
    Reply file = Json(kBert);
    file.headers.emplace_back("ratelimit", "\"resolvers\";r=1;t=1");
    hub.On(ConfigPath(id), file);
  }
  HubOptions options = hub.Options();
  options.concurrency = 1;
  const auto start = std::chrono::steady_clock::now();
  const auto list = List(options, {});
  ASSERT_TRUE(list.ok());
  for (const RankedModel& model : list->models) EXPECT_FALSE(model.excluded) << model.detail;
  EXPECT_GE(std::chrono::steady_clock::now() - start, 1900ms);  // two more windows
  EXPECT_THAT(hub.Requests("/a/"), SizeIs(3));
}

TEST(HubFaultsTest, GivesUpAfterItsAttemptsAndReportsTheError) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA) + "," + Entry("a/2", kCommitA)});
  hub.On(ConfigPath("a/1"), {503, {}, R"({"error":"Service is overloaded"})"});
  hub.On(ConfigPath("a/2"), Json(kBert));
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->models[0].excluded, Status::kFailedResolve);
  EXPECT_THAT(list->models[0].detail, AllOf(HasSubstr("HTTP 503"), HasSubstr("overloaded"), HasSubstr("5 attempts")));
  EXPECT_THAT(hub.Requests("/a/1/"), SizeIs(5));
  EXPECT_FALSE(list->models[1].excluded);
}

TEST(HubFaultsTest, ReportsTheAttemptsAndTheRequestedPause) {
  ScriptedHub hub;
  hub.On("/api/models", {503, {{"Retry-After", "900"}}, ""});
  const auto list = List(hub.Options(), {});
  ASSERT_FALSE(list.ok());
  EXPECT_THAT(list.error().message, HasSubstr("(1 attempt; the Hub requests a pause of 900 s, longer than the limit)"));
  EXPECT_THAT(hub.Requests(), SizeIs(1));

  ScriptedHub other;
  other.OnPages({Entry("a/1", kCommitA)});
  other.On(ConfigPath("a/1"), {503, {{"Retry-After", "0"}}, ""});
  HubOptions options = other.Options();
  options.tries = 3;
  const auto listed = List(options, {});
  ASSERT_FALSE(listed.ok());
  EXPECT_THAT(listed.error().message, HasSubstr("(3 attempts; the Hub requests a pause of 0 s)"));
  EXPECT_THAT(other.Requests("/a/"), SizeIs(3));
}

TEST(HubFaultsTest, ANextPageOnAnotherHostIsNotFollowed) {
  ScriptedServer stranger([](const SeenRequest&) { return Json("[" + Entry("evil/1", kCommitA) + "]"); });
  const std::string away = stranger.Url().substr(std::string("http:").size());
  for (const std::string& link :
       {"http:" + away + "/api/models?cursor=2", away + "/api/models?cursor=2", "http:" + away + "/other?cursor=2",
        "http://huggingface.co@" + away.substr(2) + "/x"}) {
    ScriptedHub hub;
    Reply page = Json("[" + Entry("a/1", kCommitA) + "]");
    page.headers.emplace_back("Link", "<" + link + ">; rel=\"next\"");
    hub.On("/api/models", page);
    const auto list = List(hub.Options(), {});
    ASSERT_FALSE(list.ok()) << link;
    EXPECT_EQ(list.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(list.error().message, AllOf(HasSubstr(link), HasSubstr("not followed")));
    EXPECT_THAT(hub.Requests(), SizeIs(1));
  }
  EXPECT_THAT(stranger.Requests(), SizeIs(0));
}

TEST(HubFaultsTest, TheListingAsAWholeHasADeadline) {
  // Each page, each attempt and each pause is short; only together they take too long.
  ScriptedHub pages, refusals, pauses, silence;
  for (int i = 0; i < 100'000 / 500; ++i) {
    Reply page = Json("[" + Entry("a/m" + std::to_string(i), kCommitA) + "]");
    page.headers.emplace_back("Link", "</api/models?cursor=" + std::to_string(i) + ">; rel=\"next\"");
    page.headers.emplace_back("ratelimit", "\"api\";r=0;t=1");
    pages.On("/api/models", page);
  }
  refusals.On("/api/models", {429, {{"Retry-After", "1"}}, ""});
  pauses.On("/api/models", {429, {{"ratelimit", "\"api\";r=0;t=60"}}, ""});
  silence.On("/api/models", {.hang = true});
  for (ScriptedHub* hub : {&pages, &refusals, &pauses, &silence}) {
    HubOptions options = hub->Options();
    options.listing_timeout = 300ms;
    const auto start = std::chrono::steady_clock::now();
    const auto list = List(options, {});
    EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
    ASSERT_FALSE(list.ok());
    EXPECT_EQ(list.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(list.error().message, HasSubstr("hub.timeout is 300 ms"));
    if (hub != &silence) EXPECT_THAT(hub->Requests(), SizeIs(1));  // the last moment may include a second attempt
  }
}

TEST(HubFaultsTest, AListingThatFailsIsAnErrorThatNamesTheHub) {
  ScriptedHub hub;
  hub.On("/api/models", {504, {}, ""});
  const auto list = List(hub.Options(), {});
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(list.error().message, AllOf(HasSubstr(hub.server().Url()), HasSubstr("HTTP 504")));
}

TEST(HubFaultsTest, ARejectedRequestIsAnErrorWithTheHubsMessage) {
  ScriptedHub hub;
  hub.On("/api/models", Refusal(400, "", "expand must be one of [a, b]"));
  const auto list = List(hub.Options(), {});
  ASSERT_FALSE(list.ok());
  EXPECT_THAT(list.error().message, HasSubstr("expand must be one of [a, b]"));
  EXPECT_THAT(hub.Requests(), SizeIs(1));
}

TEST(HubFaultsTest, AnEarlyEndIsAWarningIfNearlyAllModelsAreListedAndElseAnError) {
  std::string first;
  for (int i = 0; i < 9; ++i) first += (i ? "," : "") + Entry("a/" + std::to_string(i), kCommitA);
  ScriptedHub hub;
  Reply page = Json("[" + first + "]");
  page.headers.emplace_back("Link", "<https://huggingface.co/api/models?cursor=2>; rel=\"next\"");
  hub.On("/api/models", page);
  hub.On("/api/models", {504, {}, ""});
  ListRequest request;
  request.top = 10;
  const auto list = List(hub.Options(), request);
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_THAT(list->models, SizeIs(9));
  EXPECT_THAT(list->warnings, ElementsAre(HasSubstr("ended early")));

  ScriptedHub other;
  other.On("/api/models", page);
  other.On("/api/models", {504, {}, ""});
  request.top = 20;
  EXPECT_FALSE(List(other.Options(), request).ok());
}

TEST(HubFaultsTest, AServerThatSendsNothingTimesOut) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA) + "," + Entry("a/2", kCommitA)});
  hub.On(ConfigPath("a/1"), {.hang = true});
  hub.On(ConfigPath("a/2"), Json(kBert));
  HubOptions options = hub.Options();
  options.timeout = 100ms;
  options.tries = 2;
  const auto list = List(options, {});
  ASSERT_TRUE(list.ok());
  // The scripted server answers one request per connection at a time: the other connection continues.
  EXPECT_EQ(list->models[0].excluded, Status::kFailedResolve);
  EXPECT_THAT(list->models[0].detail, HasSubstr("100 ms"));
}

TEST(HubFaultsTest, AStopRequestEndsTheListing) {
  ScriptedHub hub;
  hub.On("/api/models", {.hang = true});
  std::stop_source stop;
  std::jthread stopper([&] {
    while (hub.Requests().empty()) std::this_thread::yield();
    stop.request_stop();
  });
  const auto list = List(hub.Options(), {}, stop.get_token());
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kInterrupted);
}

TEST(HubFaultsTest, AnswersThatAreNoListAreAnError) {
  for (const std::string& body : {std::string("<html>portal</html>"), std::string("{\"a\":1}"), std::string("[{"),
                                  std::string(1'000'000, '['), std::string("")}) {
    ScriptedHub hub;
    hub.On("/api/models", Json(body));
    const auto list = List(hub.Options(), {});
    ASSERT_FALSE(list.ok()) << body.substr(0, 20);
    EXPECT_THAT(list.error().message, HasSubstr("not a list of models"));
  }
}

TEST(HubFaultsTest, EntriesThatAreNoModelsCostOnlyThemselves) {
  ScriptedHub hub;
  hub.OnPages({"7,null,[],{},{\"id\":\"../x\"},{\"id\":5}," + Entry("a/1", kCommitA, R"("tags":7,"config":[],"gated":3,
              "safetensors":"x","downloads":"many","createdAt":{},"pipeline_tag":9)")});
  hub.On(ConfigPath("a/1"), Json(kBert));
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_THAT(list->models, SizeIs(1));
  EXPECT_FALSE(list->models[0].excluded) << list->models[0].detail;
  EXPECT_THAT(list->warnings, ElementsAre(HasSubstr("6 listed models")));
}

TEST(HubFaultsTest, ConfigurationsThatCannotBeUsedAreNamed) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/broken", kCommitA) + "," + Entry("a/list", kCommitA) + "," + Entry("a/deep", kCommitA) + "," +
               Entry("a/huge", kCommitA)});
  hub.On(ConfigPath("a/broken"), Json("{\"a\":"));
  hub.On(ConfigPath("a/list"), Json("[]"));
  hub.On(ConfigPath("a/deep"), Json("{\"a\":" + std::string(200'000, '[')));
  hub.On(ConfigPath("a/huge"), Json("{\"a\":\"" + std::string(5 << 20, 'x') + "\"}"));
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_THAT(list->models, SizeIs(4));
  for (const RankedModel& model : list->models) EXPECT_EQ(model.excluded, Status::kFailedResolve) << model.info.id;
  EXPECT_THAT(list->models[1].detail, HasSubstr("array"));
  EXPECT_THAT(list->models[3].detail, HasSubstr("longer than"));
}

TEST(HubFaultsTest, EndlessRedirectsAreBounded) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/loop", kCommitA) + "," + Entry("a/nowhere", kCommitA) + "," + Entry("a/file", kCommitA)});
  hub.On(ConfigPath("a/loop"), {307, {{"Location", ConfigPath("a/loop")}}, ""});
  hub.On(ConfigPath("a/nowhere"), {302, {}, ""});
  hub.On(ConfigPath("a/file"), {302, {{"Location", "file:///etc/passwd"}}, ""});
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok());
  for (const RankedModel& model : list->models) EXPECT_EQ(model.excluded, Status::kFailedResolve) << model.info.id;
  EXPECT_THAT(list->models[0].detail, HasSubstr("too many redirects"));
  EXPECT_THAT(hub.Requests("/a/loop"), SizeIs(6));
  EXPECT_THAT(list->models[1].detail, HasSubstr("without a target"));
}

TEST(HubFaultsTest, ARetryRequestsTheFilesLocationAgain) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA)});
  hub.On(ConfigPath("a/1"), {302, {{"Location", "/expired"}}, ""});
  hub.On(ConfigPath("a/1"), {302, {{"Location", "/signed-anew"}}, ""});
  hub.On("/expired", {503, {}, ""});
  hub.On("/signed-anew", Json(kBert));
  HubOptions options = hub.Options();
  options.concurrency = 0;  // treated as one
  const auto list = List(options, {});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->models.at(0).excluded) << list->models[0].detail;
  EXPECT_THAT(hub.Requests("/expired"), SizeIs(1));
}

TEST(HubFaultsTest, TheTokenGoesToTheEndpointAndNowhereElse) {
  ScriptedHub hub;
  ScriptedServer cdn([](const SeenRequest&) { return Json(R"({"model_type":"bert"})"); });
  hub.OnPages({Entry("a/1", kCommitA)});
  hub.On(ConfigPath("a/1"), {302, {{"Location", cdn.Url() + "/signed?sig=1"}}, ""});
  HubOptions options = hub.Options();
  options.token = "hf_topsecret";
  const auto list = List(options, {});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->models.at(0).excluded) << list->models[0].detail;
  for (const SeenRequest& request : hub.Requests()) EXPECT_EQ(request.Header("authorization"), "Bearer hf_topsecret");
  ASSERT_THAT(cdn.Requests(), SizeIs(1));
  EXPECT_EQ(cdn.Requests()[0].Header("authorization"), "");
}

TEST(HubFaultsTest, TheTokenIsInNoTextEvenWhenTheServerEchoesIt) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA)});
  Reply refusal = Refusal(403, "GatedRepo", "token hf_topsecret has no access");
  refusal.headers.emplace_back("X-HF-Warning", "auth; hf_topsecret is old");
  hub.On(ConfigPath("a/1"), refusal);
  HubOptions options = hub.Options();
  options.token = "hf_topsecret";
  const auto list = List(options, {});
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(list->models.at(0).detail, AllOf(HasSubstr("***"), Not(HasSubstr("topsecret"))));
  EXPECT_THAT(list->warnings, ElementsAre(Not(HasSubstr("topsecret"))));
  hub.On("/api/models", Refusal(400, "", "bad hf_topsecret"));
  ScriptedHub other;
  other.On("/api/models", Refusal(400, "", "bad hf_topsecret"));
  options.endpoint = other.server().Url();
  EXPECT_THAT(List(options, {}).error().message, Not(HasSubstr("topsecret")));
}

TEST(HubFaultsTest, AHubThatIsUnavailableForEveryNameIsAnError) {
  std::string url;
  {
    ScriptedHub gone;
    url = gone.server().Url();
  }
  HubOptions options = ScriptedHub().Options();
  options.endpoint = url;
  options.tries = 2;
  const auto list = ListNamed(options, {"a/1", "a/2"});
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kUnavailable);
}

TEST(HubFaultsTest, AnOutageNeverCostsACachedModel) {
  TemporaryDirectory cache;
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA)});
  hub.OnConfig("a/1", kCommitA, kBert);
  HubOptions options = hub.Options();
  options.cache_dir = cache.path().string();
  ASSERT_FALSE(List(options, {})->models.at(0).excluded);

  ScriptedHub later;  // a new commit, whose file it does not serve
  later.OnPages({Entry("a/1", kCommitB)});
  later.On(ConfigPath("a/1", kCommitB), {429, {}, ""});
  later.On("/api/models/a/1", {503, {}, ""});
  options.endpoint = later.server().Url();
  options.tries = 2;
  const auto ranked = List(options, {});
  ASSERT_TRUE(ranked.ok());
  EXPECT_FALSE(ranked->models.at(0).excluded) << ranked->models[0].detail;
  EXPECT_EQ(ranked->models[0].info.sha, kCommitA);
  EXPECT_EQ(ranked->models[0].info.config_source, "cache");
  EXPECT_THAT(ranked->warnings, ElementsAre(AllOf(HasSubstr(kCommitA), HasSubstr("HTTP 429"))));
  const auto named = ListNamed(options, {"a/1"});
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_FALSE(named->models.at(0).excluded);
}

}  // namespace
}  // namespace breakwatch::hub
