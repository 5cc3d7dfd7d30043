#include "store_fixture.h"

namespace breakwatch::store {
namespace {

ArtifactRequest Request(const std::string& model, const std::string& target = "aot_inductor") {
  ArtifactRequest request;
  request.model = model;
  request.revision = std::string(40, 'a');
  request.structure = "structure-" + model;
  request.target = target;
  request.toolchain = SampleToolchain();
  return request;
}

StageRecord Ended(Stage stage, const std::string& package = "", const std::string& status = "ok") {
  StageRecord record;
  record.stage = stage;
  record.status = status;
  record.detail = "as scripted";
  record.package_id = package;
  record.started_at = SystemTime{std::chrono::seconds{1'800'000'000}};
  return record;
}

constexpr char kPackage[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
constexpr char kOther[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

TEST_P(StoreTest, AddsTheArtifactOfARequestOnce) {
  const auto key = store_->AddArtifact(Request("org/a"));
  ASSERT_OK(key);
  EXPECT_EQ(*key, BuildKey(Request("org/a")));
  EXPECT_EQ(*store_->AddArtifact(Request("org/a")), *key);
  ASSERT_OK(store_->AddArtifact(Request("org/a", "onnx")));
  EXPECT_EQ(store_->Artifacts("", "", 10)->size(), 2u);
  EXPECT_EQ(store_->Artifacts("org/a", "onnx", 10)->size(), 1u);
  EXPECT_EQ(store_->Artifacts("org/b", "", 10)->size(), 0u);
  EXPECT_EQ(store_->Artifacts("", "", 1)->size(), 1u);
}

TEST_P(StoreTest, EnforcesTheOrderOfStages) {
  const std::string key = *store_->AddArtifact(Request("org/a"));
  const auto refusal = [&](const StageRecord& record) {
    const auto recorded = store_->RecordStage(key, record);
    EXPECT_TRUE(recorded.ok() || recorded.error().code == ErrorCode::kInvalid) << recorded.error().message;
    return recorded.ok() ? "" : recorded.error().message;
  };
  EXPECT_NE(refusal(Ended(Stage::kBuild, kPackage)).find("not fetched"), std::string::npos);
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kFetch)));
  EXPECT_NE(refusal(Ended(Stage::kCheck, kPackage)).find("not built"), std::string::npos);
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kBuild, "", "failed_build")));
  EXPECT_NE(refusal(Ended(Stage::kCheck, kPackage)).find("not built"), std::string::npos);
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kBuild, kPackage)));
  EXPECT_NE(refusal(Ended(Stage::kCheck, kOther)).find("not the one that was built"), std::string::npos);
  EXPECT_NE(refusal(Ended(Stage::kPublish, kPackage)).find("not checked"), std::string::npos);
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kCheck, kPackage, "wrong_result")));
  EXPECT_NE(refusal(Ended(Stage::kPublish, kPackage)).find("its check failed"), std::string::npos);
  EXPECT_FALSE(store_->StageIsDue(key, Stage::kPublish).ok());
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kCheck, kPackage)));
  EXPECT_NE(refusal(Ended(Stage::kPublish, kOther)).find("not the one that was built"), std::string::npos);
  EXPECT_OK(store_->StageIsDue(key, Stage::kPublish));
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kPublish, kPackage)));
  EXPECT_EQ(store_->FindArtifact(key)->State(), "published");
}

TEST_P(StoreTest, DropsTheCheckOfAPackageThatWasReplaced) {
  const std::string key = *store_->AddArtifact(Request("org/a"));
  StageRecord publish = Ended(Stage::kPublish, kPackage);
  publish.place = "dir:/srv";
  for (const StageRecord& record :
       {Ended(Stage::kFetch), Ended(Stage::kBuild, kPackage), Ended(Stage::kCheck, kPackage), publish})
    ASSERT_OK(store_->RecordStage(key, record));
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kBuild, kPackage)));
  EXPECT_TRUE(store_->FindArtifact(key)->IsChecked()) << "the same bytes";
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kBuild, kOther)));
  const auto artifact = store_->FindArtifact(kOther);
  ASSERT_OK(artifact);
  EXPECT_EQ(artifact->Find(Stage::kCheck), nullptr);
  EXPECT_NE(artifact->Find(Stage::kPublish), nullptr) << "the other package is still published";
  EXPECT_FALSE(store_->StageIsDue(key, Stage::kPublish).ok());
}

TEST_P(StoreTest, FindsArtifactsByKeyByPackageAndByTheirFirstDigits) {
  const std::string key = *store_->AddArtifact(Request("org/a"));
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kFetch)));
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kBuild, kPackage)));
  const std::string other = *store_->AddArtifact(Request("org/b"));
  ASSERT_OK(store_->RecordStage(other, Ended(Stage::kFetch)));
  for (const std::string& id : {key, key.substr(0, 6), std::string(kPackage), std::string(kPackage).substr(0, 8)})
    EXPECT_EQ(store_->FindArtifact(id)->key, key) << id;
  for (const char* id : {"", "ab", "%%%%%%", "zzzzzz", "org/a", "ffffffffffff"})
    EXPECT_EQ(store_->FindArtifact(id).error().code, ErrorCode::kNotFound) << id;
  ASSERT_OK(store_->RecordStage(other, Ended(Stage::kBuild, kPackage)));
  EXPECT_EQ(store_->FindArtifact(kPackage).error().code, ErrorCode::kInvalid) << "two have this package";
}

TEST_P(StoreTest, CountsAndRemovesArtifacts) {
  const std::string key = *store_->AddArtifact(Request("org/a"));
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kFetch)));
  ASSERT_OK(store_->AddArtifact(Request("org/b", "onnx")));
  using Counts = std::map<std::pair<std::string, std::string>, std::int64_t>;
  EXPECT_EQ(*store_->CountArtifacts(), (Counts{{{"aot_inductor", "fetched"}, 1}, {{"onnx", "requested"}, 1}}));
  ASSERT_OK(store_->RemoveArtifact(key));
  EXPECT_OK(store_->RemoveArtifact(key));
  EXPECT_EQ(store_->Artifacts("", "", 10)->size(), 1u);
  EXPECT_EQ(store_->RecordStage(key, Ended(Stage::kFetch)).error().code, ErrorCode::kNotFound);
}

TEST_P(StoreTest, FindsDamagedArtifacts) {
  const std::string key = *store_->AddArtifact(Request("org/a"));
  ASSERT_OK(store_->RecordStage(key, Ended(Stage::kFetch)));
  EXPECT_OK(store_->Check());
  Break("UPDATE artifact_stages SET document = '{'");
  EXPECT_NE(store_->Check().error().message.find("artifact_stages"), std::string::npos);
  EXPECT_OK(store_->Artifacts("", "", 10));
  Break("UPDATE artifacts SET document = '{'");
  EXPECT_NE(store_->Check().error().message.find("table artifacts"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::store
