#include "breakwatch/hub_replay/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "breakwatch/hub_replay/replay_server.h"
#include "small_recording.h"

namespace breakwatch::hub_replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

namespace fs = std::filesystem;

std::string Slurp(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Records from a replayed Hub whose Link header names another host, like the Hub's.
class RecordTest : public ::testing::Test {
 protected:
  RecordTest() {
    source_.Add(Body("org/first", "01", {{"downloads", 9}, {"trendingScore", 0.7000000000000001}}));
    source_.Add(Body("org/second", "02", {{"downloads", 5}, {"gated", "auto"}}));
    source_.Add(Body("org/third", "03", {{"downloads", 1}, {"config_source", "class_default"}}));
    source_.File("org/first", kSha, "config.json", "{\"a\": 1}").File("org/third", kSha, "config.json", "{\"c\": 3}");
    source_.Write("redirects.json", R"({"legacy": "org/third"})");
    options_.top = 3;
    options_.first_pause = std::chrono::milliseconds(1);
    target_ = source_.dir() / "made" / "recording";
  }

  Result<RecordSummary> Run() {
    ReplayOptions replay;
    replay.dir = source_.dir().string();
    auto server = ReplayServer::Start(replay);
    EXPECT_TRUE(server.ok());
    options_.endpoint = (*server)->url() + "/";
    const auto pool = net::MakeHttpPool("test", 4);
    return Record(options_, *pool, target_.string());
  }

  SmallRecording source_;
  RecordOptions options_;
  fs::path target_;
};

TEST_F(RecordTest, KeepsThePartsOfAPipeline) {
  source_.Add(Body("org/pipe", "04", {{"downloads", 7}, {"library_name", "diffusers"}}));
  source_.File("org/pipe", kSha, "model_index.json",
               R"({"unet":["diffusers","A"],"vae":["diffusers","B"],"../x":["diffusers","C"],"none":[null,null]})");
  source_.File("org/pipe", kSha, "unet/config.json", "{\"u\": 1}");
  options_.ids = {"org/pipe"};
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  const fs::path files = target_ / "files" / "org--pipe" / kSha;
  EXPECT_THAT(Slurp(files / "model_index.json"), HasSubstr("unet"));
  EXPECT_EQ(Slurp(files / "unet" / "config.json"), "{\"u\": 1}");
  EXPECT_FALSE(fs::exists(files / "vae"));
  EXPECT_EQ(summary->files, 2u);
  EXPECT_TRUE(summary->left_out.empty()) << summary->left_out.front();  // no config.json is missing, not even a vae's
}

TEST_F(RecordTest, MakesARecordingThatCanBeServed) {
  options_.note = "made by a test";
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->models, 3u);
  EXPECT_EQ(summary->files, 2u);
  EXPECT_EQ(Slurp(target_ / "files" / "org--first" / kSha / "config.json"), "{\"a\": 1}");
  EXPECT_THAT(Slurp(target_ / "recording.json"), HasSubstr("made by a test"));
  EXPECT_THAT(Slurp(target_ / "models.jsonl"), HasSubstr("0.7000000000000001"));
  ReplayOptions again;
  again.dir = target_.string();
  const auto server = ReplayServer::Start(again);
  ASSERT_TRUE(server.ok()) << server.error().message;
  EXPECT_EQ((*server)->models(), 3u);
}

TEST_F(RecordTest, CopiesTheBundledSnapshotOverMoreConnectionsThanAreServedAtOnce) {
  const fs::path snapshot = fs::path(BREAKWATCH_SOURCE_DIR) / "collectors/hub/snapshot";
  ReplayOptions replay;
  replay.dir = snapshot.string();
  replay.threads = 2;
  const auto server = ReplayServer::Start(replay);
  ASSERT_TRUE(server.ok());
  options_.endpoint = (*server)->url();
  options_.top = 1000;
  const auto pool = net::MakeHttpPool("test", 16);
  const auto summary = Record(options_, *pool, target_.string());
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->models, (*server)->models());
  EXPECT_EQ(summary->files + summary->left_out.size(), summary->models);
  for (const std::string& line : summary->left_out) EXPECT_THAT(line, HasSubstr("is restricted")) << "only gated ones";
  std::size_t equal = 0;
  for (const auto& entry : fs::recursive_directory_iterator(target_ / "files")) {
    if (!entry.is_regular_file()) continue;
    equal += Slurp(entry.path()) == Slurp(snapshot / fs::relative(entry.path(), target_));
  }
  EXPECT_EQ(equal, summary->files);
}

TEST_F(RecordTest, ReportsWhatItLeftOutAndWhy) {
  const auto summary = Run();
  ASSERT_TRUE(summary.ok());
  ASSERT_EQ(summary->left_out.size(), 1u);
  EXPECT_THAT(summary->left_out[0], HasSubstr("org/second: config.json: "));
  EXPECT_THAT(summary->left_out[0], HasSubstr("HTTP 401: Access to model org/second is restricted"));
}

TEST_F(RecordTest, KeepsTheMarkOfConfigsThatAreNotThePublishedOnes) {
  ASSERT_TRUE(Run().ok());
  EXPECT_THAT(Slurp(target_ / "models.jsonl"), HasSubstr("\"config_source\":\"class_default\""));
}

TEST_F(RecordTest, WalksPagesAtTheEndpointAndDropsDuplicates) {
  source_.Write("faults.json", R"({"repeat_across_pages": true})");
  options_.query = {{"limit", "1"}};  // the last value counts: pages of one model
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->models, 3u);
}

TEST_F(RecordTest, TriesAgainAfterTransientFaults) {
  source_.Write("faults.json", R"({"list": {"status": 504, "times": 2}, "resolve": {"status": 503, "times": 1}})");
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->files, 2u);
}

TEST_F(RecordTest, LeavesNothingBehindWhenTheListingFails) {
  source_.Write("faults.json", R"({"list": {"status": 500, "times": 100}})");
  options_.attempts = 2;
  const auto summary = Run();
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(summary.error().message, HasSubstr("/api/models: HTTP 500"));
  EXPECT_TRUE(fs::is_empty(target_.parent_path()));
}

TEST_F(RecordTest, RecordsNamedModelsUnderTheirCanonicalIds) {
  options_.ids = {"legacy", "org/first", "org/none"};
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->models, 2u);
  EXPECT_EQ(Slurp(target_ / "redirects.json"), "{\"legacy\":\"org/third\"}\n");
  EXPECT_THAT(summary->left_out, ElementsAre(HasSubstr("org/none: ")));
}

TEST_F(RecordTest, RecordsAModelAtANamedRevision) {
  source_.File("org/first", kOldSha, "config.json", "{\"old\": 1}");
  options_.ids = {"org/first@" + std::string(kOldSha)};
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Slurp(target_ / "files" / "org--first" / kOldSha / "config.json"), "{\"old\": 1}");
  EXPECT_THAT(Slurp(target_ / "models.jsonl"), HasSubstr(kOldSha));
}

TEST_F(RecordTest, UsesTheTokenAndWritesItNowhere) {
  source_.Write("faults.json", R"({"tokens": {"hf_secretsecret": ["org/second"]}})");
  source_.File("org/second", kSha, "config.json", "{\"b\": 2}");
  options_.token = "hf_secretsecret";
  const auto summary = Run();
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_EQ(summary->files, 3u);
  for (const auto& entry : fs::recursive_directory_iterator(target_)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(Slurp(entry.path()).find("hf_secret"), std::string::npos) << entry.path();
  }
}

TEST_F(RecordTest, SendsTheParametersOfTheListRequest) {
  ListRequest request;
  request.top = 7;
  request.sort = "likes";
  request.filters = {"pytorch"};
  request.library = "transformers";
  request.task = "fill-mask";
  request.gated = false;
  request.min_params = 5;
  request.max_params = 9;
  request.ids = {"org/x@main"};
  const RecordOptions options = RecordOptionsOf(request);
  EXPECT_EQ(options.top, 7u);
  EXPECT_EQ(options.sort, "likes");
  EXPECT_THAT(options.ids, ElementsAre("org/x@main"));
  EXPECT_THAT(options.query,
              ElementsAre(Pair("filter", "pytorch"), Pair("pipeline_tag", "fill-mask"), Pair("filter", "transformers"),
                          Pair("gated", "false"), Pair("num_parameters", "min:5,max:9")));
}

TEST_F(RecordTest, RefusesAFolderThatExists) {
  fs::create_directories(target_);
  const auto summary = Run();
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().code, ErrorCode::kUsage);
}

TEST_F(RecordTest, RefusesPathsThatLeaveTheRecording) {
  options_.files = {"../x"};
  EXPECT_EQ(Run().error().code, ErrorCode::kUsage);
}

TEST_F(RecordTest, EndsOnRequest) {
  ReplayOptions replay;
  replay.dir = source_.dir().string();
  const auto server = ReplayServer::Start(replay);
  ASSERT_TRUE(server.ok());
  options_.endpoint = (*server)->url();
  std::stop_source stop;
  stop.request_stop();
  const auto pool = net::MakeHttpPool("test", 4);
  const auto summary = Record(options_, *pool, target_.string(), stop.get_token());
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace breakwatch::hub_replay
