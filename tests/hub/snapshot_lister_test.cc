#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/hub/hub_lister.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::hub {
namespace {

using fakes::TemporaryDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kSha(40, 'a');

// A recording of a few models with figures of every kind.
class SnapshotListerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_.Write("recording.json", R"({"format":1,"recorded_at":"2026-01-01","endpoint":"x","note":""})");
    Model("b/second", R"("_id":"2","downloads":10,"likes":9,"tags":["en","transformers"],"pipeline_tag":"fill-mask")");
    Model("a/first", R"("_id":"1","downloads":20,"likes":1,"trendingScore":0.7000000000000001,)"
                     R"("safetensors":{"total":5000},"pipeline_tag":"image-classification")");
    Model("z/unknown", R"("_id":"9","downloads":null,"pipeline_tag":"text-generation")");
    Model("sample/Alpha", R"("config_source":"class_default","config":{"model_type":"bert"})");
    WriteModels();
  }

  void Model(const std::string& id, const std::string& fields, bool with_config = true) {
    lines_ += R"({"id":")" + id + R"(","sha":")" + kSha + "\"," + fields + "}\n";
    std::string folder = id;
    folder.replace(folder.find('/'), 1, "--");
    if (with_config) directory_.Write("files/" + folder + "/" + kSha + "/config.json", R"({"model_type":"bert"})");
  }
  void WriteModels() { directory_.Write("models.jsonl", lines_); }

  Result<RankedList> List(const ListRequest& request, HubOptions options = {}) {
    return MakeSnapshotLister(directory_.path().string(), std::move(options))->List(request, {}, nullptr);
  }
  static std::vector<std::string> Ids(const Result<RankedList>& list) {
    std::vector<std::string> ids;
    if (!list) return {"error: " + list.error().message};
    for (const RankedModel& model : list->models) ids.push_back(model.info.id);
    return ids;
  }

  TemporaryDirectory directory_;
  std::string lines_;
};

TEST_F(SnapshotListerTest, RanksByDownloadsAndPutsModelsWithoutFiguresLast) {
  const auto list = List({});
  EXPECT_THAT(Ids(list), ElementsAre("a/first", "b/second", "z/unknown", "sample/Alpha"));
  EXPECT_TRUE(list->ranked);
  EXPECT_THAT(list->source, HasSubstr("snapshot "));
  for (std::size_t i = 0; i < list->models.size(); ++i) {
    EXPECT_EQ(list->models[i].info.rank, static_cast<int>(i) + 1);
    EXPECT_FALSE(list->models[i].excluded) << list->models[i].detail;
    EXPECT_EQ(list->models[i].config_json, R"({"model_type":"bert"})");
  }
  EXPECT_EQ(list->models[3].info.config_source, "class_default");
}

TEST_F(SnapshotListerTest, SortsByOtherFigures) {
  ListRequest request;
  request.sort = "likes";
  EXPECT_THAT(Ids(List(request)), ElementsAre("b/second", "a/first", "z/unknown", "sample/Alpha"));
  request.sort = "trending_score";
  EXPECT_EQ(Ids(List(request)).front(), "a/first");
}

TEST_F(SnapshotListerTest, RefusesAnUnknownSortAndNamesTheNearest) {
  ListRequest request;
  request.sort = "downlaods";
  const auto list = List(request);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kUsage);
  EXPECT_THAT(list.error().message, HasSubstr("downloads"));
}

TEST_F(SnapshotListerTest, TakesTheTopOfEachFamily) {
  ListRequest request;
  request.top = 1;
  request.per_family = true;
  EXPECT_THAT(Ids(List(request)), ElementsAre("a/first", "b/second"));  // one of vision, one of nlp
}

TEST_F(SnapshotListerTest, FiltersAsTheHubDoes) {
  const auto with = [&](auto change) {
    ListRequest request;
    change(request);
    return Ids(List(request));
  };
  EXPECT_THAT(with([](auto& r) { r.filters = {"en", "transformers"}; }), ElementsAre("b/second"));
  EXPECT_THAT(with([](auto& r) { r.filters = {"en", "de"}; }), IsEmpty());
  EXPECT_THAT(with([](auto& r) { r.author = "sample"; }), ElementsAre("sample/Alpha"));
  EXPECT_THAT(with([](auto& r) { r.search = "ALPH"; }), ElementsAre("sample/Alpha"));
  EXPECT_THAT(with([](auto& r) { r.task = "text-generation"; }), ElementsAre("z/unknown"));
  EXPECT_THAT(with([](auto& r) { r.max_params = 10, r.top = 2; }), ElementsAre("b/second", "z/unknown"));
}

TEST_F(SnapshotListerTest, EveryExclusionHasAStatusAndAText) {
  Model("g/gated", R"("gated":"manual")", false);
  Model("d/disabled", R"("disabled":true)");
  Model("l/adapter", R"("library_name":"peft")");
  Model("n/none", R"("downloads":1)", false);
  Model("t/large", R"("safetensors":{"parameters":{"BF16":700,"F32":400}})");
  WriteModels();
  directory_.Write("files/b--second/" + kSha + "/config.json", "[1, 2]");
  HubOptions options;
  options.max_params = 1000;
  const auto list = List({}, options);
  ASSERT_TRUE(list.ok()) << list.error().message;
  std::map<std::string, Status> excluded;
  for (const RankedModel& model : list->models) {
    if (!model.excluded) continue;
    excluded[model.info.id] = *model.excluded;
    EXPECT_NE(model.detail, "") << model.info.id;
    EXPECT_EQ(model.config_json, "");
  }
  EXPECT_THAT(
      excluded,
      ::testing::UnorderedElementsAre(
          ::testing::Pair("g/gated", Status::kSkippedGated), ::testing::Pair("d/disabled", Status::kSkippedDisabled),
          ::testing::Pair("l/adapter", Status::kSkippedUnsupportedLibrary),
          ::testing::Pair("n/none", Status::kSkippedNoConfig), ::testing::Pair("t/large", Status::kSkippedTooLarge),
          ::testing::Pair("a/first", Status::kSkippedTooLarge), ::testing::Pair("b/second", Status::kFailedResolve)));
}

TEST_F(SnapshotListerTest, FindsModelsByNameUnranked) {
  ListRequest request;
  request.ids = {"z/unknown", "a/first@" + kSha, "a/first@v1", "not/there", "no id at all"};
  const auto list = List(request);
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->ranked);
  ASSERT_EQ(list->models.size(), 5u);
  EXPECT_FALSE(list->models[0].excluded);
  EXPECT_EQ(list->models[0].info.rank, 0);
  EXPECT_FALSE(list->models[1].excluded);
  EXPECT_EQ(list->models[2].excluded, Status::kFailedResolve);
  EXPECT_EQ(list->models[3].excluded, Status::kSkippedNotFound);
  EXPECT_EQ(list->models[4].excluded, Status::kSkippedNotFound);
}

TEST_F(SnapshotListerTest, FollowsARecordedRename) {
  directory_.Write("redirects.json", R"({"first": "a/first"})");
  ListRequest request;
  request.ids = {"first"};
  const auto list = List(request);
  EXPECT_THAT(Ids(list), ElementsAre("a/first"));
  EXPECT_EQ(list->models[0].info.requested_id, "first");
  EXPECT_FALSE(list->models[0].excluded);
}

TEST_F(SnapshotListerTest, DropsDuplicatesAndBadLinesWithAWarning) {
  lines_ += "{broken\n\n{\"_id\":\"1\",\"id\":\"a/first-again\"}\n";
  WriteModels();
  const auto list = List({});
  EXPECT_THAT(Ids(list), ElementsAre("a/first", "b/second", "z/unknown", "sample/Alpha"));
  EXPECT_THAT(list->warnings, ElementsAre(HasSubstr("line 5"), HasSubstr("twice")));
}

TEST_F(SnapshotListerTest, AnIdCannotLeadOutOfTheRecording) {
  lines_ = R"({"id":"../../etc","sha":")" + kSha + "\"}\n" + R"({"id":"a/b","sha":"../../../../etc"})" + "\n";
  WriteModels();
  const auto list = List({});
  EXPECT_THAT(Ids(list), ElementsAre("a/b"));
  EXPECT_EQ(list->models[0].excluded, Status::kSkippedNoConfig);
}

TEST_F(SnapshotListerTest, RejectsADirectoryThatIsNotARecordingOrHasAnotherFormat) {
  directory_.Write("recording.json", R"({"format":2})");
  EXPECT_THAT(List({}).error().message, HasSubstr("format 2"));
  std::filesystem::remove(directory_ / "recording.json");
  EXPECT_EQ(List({}).error().code, ErrorCode::kConfig);
}

TEST_F(SnapshotListerTest, StopsOnRequest) {
  std::stop_source stop;
  stop.request_stop();
  const auto list = MakeSnapshotLister(directory_.path().string())->List({}, stop.get_token(), nullptr);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kInterrupted);
}

TEST_F(SnapshotListerTest, ReportsProgressUpToTheEnd) {
  std::vector<std::pair<int, int>> seen;
  ASSERT_TRUE(MakeSnapshotLister(directory_.path().string())
                  ->List({}, {}, [&](int done, int total) { seen.emplace_back(done, total); })
                  .ok());
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_EQ(seen.back(), std::pair(4, 4));
}

TEST(BundledSnapshotTest, IsReadWithoutAWarning) {
  const std::string path = BREAKWATCH_SOURCE_DIR "/collectors/hub/snapshot";
  if (!std::filesystem::exists(path + "/recording.json")) GTEST_SKIP() << "no bundled snapshot at " << path;
  ListRequest request;
  request.top = 10'000;
  const auto list = MakeSnapshotLister(path)->List(request, {}, nullptr);
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_THAT(list->warnings, IsEmpty());
  EXPECT_GE(list->models.size(), 100u);
  for (const RankedModel& model : list->models) {
    EXPECT_NE(model.info.family, Family::kUnknown) << model.info.id << " " << model.info.model_type;
    EXPECT_TRUE(model.excluded || !model.config_json.empty()) << model.info.id;
  }
}

}  // namespace
}  // namespace breakwatch::hub
