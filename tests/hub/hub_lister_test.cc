// The live Hub's lister against answers in the Hub's recorded shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hub/scripted_hub.h"

namespace breakwatch::hub {
namespace {

using namespace breakwatch::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kBert = R"({"model_type":"bert","architectures":["BertForMaskedLM"]})";

TEST(HubListerTest, ListsPinsAndFetchesThroughTheRelativeRedirect) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/one", kCommitA, R"("downloads":9,"pipeline_tag":"fill-mask","trendingScore":0.7000000000000001,
                                           "gated":false,"library_name":null,"tags":["custom_code"],
                                           "safetensors":{"parameters":{"F32":110},"total":110})") +
               "," + Entry("b/two", kCommitB, R"("downloads":null,"likes":3,"gated":"auto")")});
  hub.OnConfig("a/one", kCommitA, kBert);
  hub.OnConfig("b/two", kCommitB, kBert);
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_TRUE(list->ranked);
  EXPECT_EQ(list->source, "hub " + hub.server().Url());
  ASSERT_THAT(list->models, SizeIs(2));
  const ModelInfo& one = list->models[0].info;
  EXPECT_EQ(one.id, "a/one");
  EXPECT_EQ(one.hub_id, "id-a/one");
  EXPECT_EQ(one.sha, kCommitA);
  EXPECT_EQ(one.rank, 1);
  EXPECT_EQ(one.downloads, 9);
  EXPECT_EQ(one.params, 110);
  EXPECT_EQ(one.task, "fill-mask");
  EXPECT_EQ(one.model_type, "bert");
  EXPECT_EQ(one.family, Family::kNlp);
  EXPECT_EQ(one.config_source, "hub");
  EXPECT_TRUE(one.custom_code);
  EXPECT_FALSE(list->models[0].excluded);
  EXPECT_EQ(list->models[0].config_json, kBert);
  EXPECT_EQ(list->models[1].info.gated, "auto");
  EXPECT_EQ(list->models[1].info.downloads, std::nullopt);
}

TEST(HubListerTest, UsesTheParameterNamesOfTheHub) {
  ScriptedHub hub;
  hub.OnPages({""});
  ListRequest request;
  request.top = 10;
  request.sort = "last_modified";
  request.filters = {"en", "license:mit"};
  request.library = "transformers";
  request.author = "a b";
  request.search = "x&y";
  request.task = "fill-mask";
  request.gated = false;
  request.min_params = 500'000'000;
  request.max_params = 6'000'000'000;
  ASSERT_TRUE(List(hub.Options(), request).ok());
  const SeenRequest seen = hub.Requests().at(0);
  EXPECT_THAT(seen.Query("sort"), ElementsAre("lastModified"));
  EXPECT_THAT(seen.Query("filter"), ElementsAre("en", "license:mit", "transformers"));
  EXPECT_THAT(seen.Query("author"), ElementsAre("a b"));
  EXPECT_THAT(seen.Query("search"), ElementsAre("x&y"));
  EXPECT_THAT(seen.Query("pipeline_tag"), ElementsAre("fill-mask"));
  EXPECT_THAT(seen.Query("gated"), ElementsAre("false"));
  EXPECT_THAT(seen.Query("num_parameters"), ElementsAre("min:500M,max:6B"));
  EXPECT_THAT(seen.Query("expand"), ::testing::IsSupersetOf({"sha", "config", "safetensors", "gated"}));
  for (const char* never : {"direction", "full", "config", "library", "skip"})
    EXPECT_THAT(seen.Query(never), IsEmpty());
}

TEST(HubListerTest, FollowsLinksOfTheForeignHostAtItsOwnEndpointAndDropsDuplicates) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA) + "," + Entry("a/2", kCommitA),
               Entry("a/2", kCommitA) + "," + Entry("a/3", kCommitA), Entry("a/4", kCommitA)});
  for (const char* id : {"a/1", "a/2", "a/3", "a/4"}) hub.OnConfig(id, kCommitA, kBert);
  ListRequest request;
  request.top = 4;
  const auto list = List(hub.Options(), request);
  ASSERT_TRUE(list.ok()) << list.error().message;
  std::vector<std::string> ids;
  for (const auto& model : list->models) ids.push_back(model.info.id);
  EXPECT_THAT(ids, ElementsAre("a/1", "a/2", "a/3", "a/4"));
  EXPECT_THAT(list->warnings, ElementsAre(HasSubstr("twice")));
  const auto pages = hub.Requests("/api/models?");
  ASSERT_THAT(pages, SizeIs(3));
  EXPECT_THAT(pages[2].Query("cursor"), ElementsAre("c1"));
}

TEST(HubListerTest, StopsPagingWhenItHasEnough) {
  ScriptedHub hub;
  hub.OnPages({Entry("a/1", kCommitA) + "," + Entry("a/2", kCommitA), Entry("a/3", kCommitA)});
  hub.OnConfig("a/1", kCommitA, kBert);
  ListRequest request;
  request.top = 1;
  const auto list = List(hub.Options(), request);
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(list->models, SizeIs(1));
  EXPECT_THAT(hub.Requests("/api/models?"), SizeIs(1));
}

TEST(HubListerTest, BoundsThePages) {
  ScriptedHub hub;
  for (int i = 0; i < 10; ++i) {
    Reply page = Json("[" + Entry("a/m" + std::to_string(i), kCommitA) + "]");
    page.headers.emplace_back("Link", "</api/models?cursor=" + std::to_string(i) + ">; rel=\"next\"");
    hub.On("/api/models", page);
  }
  HubOptions options = hub.Options();
  options.max_pages = 3;
  const auto list = List(options, {});
  ASSERT_FALSE(list.ok());
  EXPECT_THAT(list.error().message, HasSubstr("3 pages"));
  EXPECT_THAT(hub.Requests(), SizeIs(3));
}

TEST(HubListerTest, WorksUnderAPathPrefix) {
  ScriptedHub hub;
  Reply page = Json("[" + Entry("a/1", kCommitA) + "]");
  page.headers.emplace_back("Link", "<https://huggingface.co/api/models?cursor=z>; rel=\"next\"");
  hub.On("/mirror/api/models", page);
  hub.On("/mirror/api/models", Json("[]"));
  hub.On("/mirror/a/1/resolve/" + kCommitA + "/config.json", Json(kBert));
  HubOptions options = hub.Options();
  options.endpoint += "/mirror/";
  const auto list = List(options, {});
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_FALSE(list->models.at(0).excluded) << list->models[0].detail;
}

TEST(HubListerTest, TakesTheTopOfEachFamilyFromOneListingPerTask) {
  ScriptedHub hub;
  hub.On("/api/models", Json("[" + Entry("a/nlp", kCommitA, R"("downloads":5,"pipeline_tag":"fill-mask")") + "," +
                             Entry("a/less", kCommitA, R"("downloads":4,"pipeline_tag":"fill-mask")") + "," +
                             Entry("a/vision", kCommitA, R"("downloads":7,"pipeline_tag":"object-detection")") + "]"));
  for (const char* id : {"a/nlp", "a/vision"}) hub.OnConfig(id, kCommitA, kBert);
  ListRequest request;
  request.top = 1;
  request.per_family = true;
  const auto list = List(hub.Options(), request);
  ASSERT_TRUE(list.ok()) << list.error().message;
  std::vector<std::string> ids;
  for (const auto& model : list->models) ids.push_back(model.info.id);
  EXPECT_THAT(ids, ElementsAre("a/vision", "a/nlp"));
  std::set<std::string> tasks;
  for (const auto& request_seen : hub.Requests("/api/models?")) tasks.insert(request_seen.Query("pipeline_tag").at(0));
  EXPECT_GE(tasks.size(), 47u);
}

TEST(HubListerTest, MarksWhatAServerListedAgainstTheFilters) {
  ScriptedHub hub;
  hub.OnPages({Entry("other/x", kCommitA) + "," + Entry("me/small", kCommitA, R"("safetensors":{"total":10})") + "," +
               Entry("me/large", kCommitA, R"("safetensors":{"total":1000})")});
  ListRequest request;
  request.author = "me";
  request.min_params = 100;
  request.max_params = 500;
  const auto list = List(hub.Options(), request);
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->models[0].excluded, Status::kSkippedFiltered);
  EXPECT_EQ(list->models[1].excluded, Status::kSkippedFiltered);
  EXPECT_EQ(list->models[2].excluded, Status::kSkippedTooLarge);
  EXPECT_THAT(list->models[2].detail, HasSubstr("1000 parameters"));
}

TEST(HubListerTest, TakesTheCommitFromTheFileWhenTheListingNamesNone) {
  ScriptedHub hub;
  hub.OnPages({R"({"id":"a/1"})"});
  hub.On("/a/1/resolve/main/config.json", {200, {{"X-Repo-Commit", kCommitB}}, kBert});
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->models.at(0).excluded) << list->models[0].detail;
  EXPECT_EQ(list->models[0].info.sha, kCommitB);
}

TEST(HubListerTest, FollowsARenamedModelAndKeepsTheRequestedName) {
  ScriptedHub hub;
  hub.On("/api/models/t5-small", {307, {{"Location", "/api/models/google-t5/t5-small?expand=sha"}}, ""});
  hub.On("/api/models/google-t5/t5-small", Json(Entry("google-t5/t5-small", kCommitA)));
  hub.OnConfig("google-t5/t5-small", kCommitA, R"({"model_type":"t5"})");
  const auto list = ListNamed(hub.Options(), {"t5-small"});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->ranked);
  ASSERT_THAT(list->models, SizeIs(1));
  EXPECT_FALSE(list->models[0].excluded) << list->models[0].detail;
  EXPECT_EQ(list->models[0].info.id, "google-t5/t5-small");
  EXPECT_EQ(list->models[0].info.requested_id, "t5-small");
  EXPECT_EQ(list->models[0].info.rank, 0);
}

TEST(HubListerTest, RequestsTheNamedRevision) {
  ScriptedHub hub;
  hub.On("/api/models/a/x--y/revision/refs%2Fpr%2F1", Json(Entry("a/x--y", kCommitB)));
  hub.OnConfig("a/x--y", kCommitB, kBert);
  const auto list = ListNamed(hub.Options(), {"a/x--y@refs/pr/1"});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->models.at(0).excluded) << list->models[0].detail;
  EXPECT_EQ(list->models[0].info.sha, kCommitB);
}

TEST(HubListerTest, ListsAModelNamedTwiceOnce) {
  ScriptedHub hub;
  hub.On("/api/models/old", {307, {{"Location", "/api/models/a/new"}}, ""});
  hub.On("/api/models/a/new", Json(Entry("a/new", kCommitA)));
  hub.OnConfig("a/new", kCommitA, kBert);
  const auto list = ListNamed(hub.Options(), {"old", "a/new"});
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(list->models, SizeIs(1));
  EXPECT_THAT(list->warnings, ElementsAre(HasSubstr("requested twice")));
}

// One model per error answer of the Hub: its message, the resulting status, and a word that the text must contain.
TEST(HubListerTest, DistinguishesTheErrorsOfTheHub) {
  struct Case {
    std::string id;
    Reply reply;
    Status status;
    std::string word;
  };
  const std::vector<Case> kCases = {
      {"a/gated", Refusal(401, "GatedRepo", "Access to model a/gated is restricted."), Status::kSkippedGated,
       "HF_TOKEN"},
      {"a/gated2", Refusal(403, "GatedRepo", "you are not in the authorized list"), Status::kSkippedGated,
       "authorized"},
      {"a/private", Refusal(401, "", "Invalid username or password."), Status::kSkippedNotFound, "missing or private"},
      {"a/token", Refusal(401, "", "Invalid credentials in Authorization header"), Status::kFailedResolve, "token"},
      {"a/missing", Refusal(404, "RepoNotFound", "Repository not found"), Status::kSkippedNotFound,
       "no such repository"},
      {"a/disabled", Refusal(403, "", "Access to this resource is disabled."), Status::kSkippedDisabled, "disabled"},
      {"a/legal", Refusal(451, "", "gone"), Status::kSkippedDisabled, "legal"},
      {"a/nofile", Refusal(404, "EntryNotFound", "Entry not found"), Status::kSkippedNoConfig, "no config.json"},
      {"a/norev", Refusal(404, "RevisionNotFound", "Invalid rev id"), Status::kFailedResolve, "no revision"},
      {"a/plain404", {404, {}, "not here"}, Status::kFailedResolve, "HTTP 404"},
      {"a/teapot", {418, {}, ""}, Status::kFailedResolve, "HTTP 418"},
  };
  ScriptedHub hub;
  std::string page;
  for (const Case& one : kCases) {
    page += (page.empty() ? "" : ",") + Entry(one.id, kCommitA);
    hub.On("/" + one.id + "/resolve/" + kCommitA + "/config.json", one.reply);
  }
  hub.OnPages({page});
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok()) << list.error().message;
  ASSERT_EQ(list->models.size(), kCases.size());
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    EXPECT_EQ(list->models[i].excluded, kCases[i].status) << kCases[i].id << ": " << list->models[i].detail;
    EXPECT_THAT(list->models[i].detail, HasSubstr(kCases[i].word)) << kCases[i].id;
  }
  EXPECT_EQ(hub.Requests("/a/").size(), kCases.size()) << "a refusal is final: no second try";
}

TEST(HubListerTest, PassesTheHubsWarningOnOnce) {
  ScriptedHub hub;
  Reply page = Json("[" + Entry("a/1", kCommitA) + "]");
  page.headers.emplace_back("X-HF-Warning", "unauthenticated; please log in");
  hub.On("/api/models", page);
  hub.On("/a/1/resolve/" + kCommitA + "/config.json",
         {200, {{"X-HF-Warning", "unauthenticated; please log in"}}, kBert});
  const auto list = List(hub.Options(), {});
  ASSERT_TRUE(list.ok());
  EXPECT_THAT(list->warnings, ElementsAre(HasSubstr("please log in")));
}

}  // namespace
}  // namespace breakwatch::hub
