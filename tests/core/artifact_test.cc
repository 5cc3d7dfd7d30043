#include "breakwatch/core/artifact.h"

#include <gtest/gtest.h>

#include "breakwatch/core/json.h"

namespace breakwatch {
namespace {

ArtifactRequest Request() {
  ArtifactRequest request;
  request.model = "org/name";
  request.revision = std::string(40, 'a');
  request.structure = "s";
  request.target = "aot_inductor";
  request.toolchain.torch = "2.15.0";
  return request;
}

StageRecord Ended(Stage stage, const std::string& status, const std::string& package = "") {
  StageRecord record;
  record.stage = stage;
  record.status = status;
  record.detail = "as scripted";
  record.package_id = package;
  return record;
}

TEST(BuildKeyTest, IsEqualForEqualRequestsAndDiffersByEveryField) {
  const std::string key = BuildKey(Request());
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(BuildKey(Request()), key);
  std::set<std::string> keys = {key};
  const auto add = [&](const auto& change) {
    ArtifactRequest request = Request();
    change(request);
    EXPECT_TRUE(keys.insert(BuildKey(request)).second) << ToJson(request);
  };
  add([](ArtifactRequest& r) { r.structure = "t"; });
  add([](ArtifactRequest& r) { r.target = "onnx"; });
  add([](ArtifactRequest& r) { r.weights = "hub"; });
  add([](ArtifactRequest& r) { r.weights_digest = "d"; });
  add([](ArtifactRequest& r) { r.seed = 7; });
  add([](ArtifactRequest& r) { r.dtype = "bfloat16"; });
  add([](ArtifactRequest& r) { r.batch = 8; });
  add([](ArtifactRequest& r) { r.dynamic = true; });
  add([](ArtifactRequest& r) { r.full = true; });
  add([](ArtifactRequest& r) { r.cpu_capability = "avx2"; });
  add([](ArtifactRequest& r) { r.toolchain.torch = "2.13.0"; });
}

TEST(ArtifactTest, IsSummedUpByItsLastGoodStageOrItsFirstFailure) {
  Artifact artifact;
  EXPECT_EQ(artifact.State(), "requested");
  artifact.stages = {Ended(Stage::kFetch, "ok"), Ended(Stage::kBuild, "ok", "p")};
  EXPECT_EQ(artifact.State(), "built");
  artifact.stages.push_back(Ended(Stage::kCheck, "wrong_result", "p"));
  EXPECT_EQ(artifact.State(), "wrong_result");
  EXPECT_FALSE(artifact.IsChecked());
  artifact.stages.back().status = "ok";
  EXPECT_TRUE(artifact.IsChecked());
  artifact.stages.push_back(Ended(Stage::kPublish, "ok", "an earlier package"));
  EXPECT_EQ(artifact.State(), "checked");
  artifact.stages.push_back(Ended(Stage::kPublish, "ok", "p"));
  artifact.stages.push_back(Ended(Stage::kPublish, "failed_publish", "p"));
  EXPECT_EQ(artifact.State(), "published") << "somewhere";
}

TEST(StageRecordTest, SurvivesJson) {
  StageRecord record = Ended(Stage::kPublish, "ok", "p");
  record.place = "dir:/srv/models";
  record.reference = "dir:/srv/models@sha256:p";
  record.seconds = 1.5;
  record.report_json = R"({"cases":[]})";
  const auto read = StageRecordFromJson(ToJson(record));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(ToJson(*read), ToJson(record));
}

}  // namespace
}  // namespace breakwatch
