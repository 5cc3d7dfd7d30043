#include "listed_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace breakwatch::hub {
namespace {

using ::testing::ElementsAre;

Result<ListedModel> Read(const std::string& text) {
  static const Result<FamilyTable> kFamilies = FamilyTable::Load("");
  const auto body = ParseJson(text, 1 << 20, 64);
  return ReadListedModel(*body, *kFamilies);
}

TEST(ListedModelTest, ReadsAnEntryOfToday) {
  const auto model = Read(R"({"_id":"621f","id":"a/b","sha":"0123456789012345678901234567890123456789","downloads":7,
      "likes":2,"trendingScore":0.7000000000000001,"tags":["x","custom_code"],"pipeline_tag":"object-detection",
      "library_name":"transformers","gated":"auto","private":true,"disabled":true,"createdAt":"2022-03-02T23:29:04.000Z",
      "lastModified":"2024-01-01T00:00:00.000Z","config":{"model_type":"detr","architectures":["DetrForObjectDetection"]},
      "safetensors":{"parameters":{"F32":100},"total":100}})");
  ASSERT_TRUE(model.ok());
  const ModelInfo& info = model->info;
  EXPECT_EQ(info.hub_id, "621f");
  EXPECT_EQ(info.downloads, 7);
  EXPECT_EQ(info.likes, 2);
  EXPECT_EQ(info.gated, "auto");
  EXPECT_EQ(info.params, 100);
  EXPECT_EQ(info.family, Family::kVision);
  EXPECT_EQ(info.model_type, "detr");
  EXPECT_THAT(info.architectures, ElementsAre("DetrForObjectDetection"));
  EXPECT_TRUE(info.is_private && info.disabled && info.custom_code);
  EXPECT_DOUBLE_EQ(*model->trending_score, 0.7000000000000001);
  EXPECT_EQ(model->created_at, "2022-03-02T23:29:04.000Z");
}

TEST(ListedModelTest, ReadsAnEntryOf2022WithNulls) {
  const auto model = Read(R"({"modelId":"gpt2","pipeline_tag":null,"config":null,"downloads":3,"tags":[]})");
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->info.id, "gpt2");
  EXPECT_EQ(model->info.hub_id, "");
  EXPECT_EQ(model->info.task, "");
  EXPECT_EQ(model->info.family, Family::kUnknown);
}

TEST(ListedModelTest, TakesTheTaskFromTransformersInfoWhenTheTagIsMissing) {
  EXPECT_EQ(Read(R"({"id":"a/b","transformersInfo":{"pipeline_tag":"fill-mask"}})")->info.task, "fill-mask");
}

TEST(ListedModelTest, TakesTheLicenceFromTheTagsOrTheCard) {
  EXPECT_EQ(Read(R"({"id":"a","tags":["bert","license:apache-2.0","region:us"]})")->info.license, "apache-2.0");
  EXPECT_EQ(Read(R"({"id":"a","tags":["bert"],"cardData":{"license":"mit"}})")->info.license, "mit");
  EXPECT_EQ(Read(R"({"id":"a","tags":["license:mit"],"cardData":{"license":"other"}})")->info.license, "mit");
  for (const char* none : {R"({"id":"a","tags":["license"]})", R"({"id":"a","cardData":{"license":["mit","gpl"]}})",
                           R"({"id":"a","cardData":null})"})
    EXPECT_EQ(Read(none)->info.license, "") << none;
  EXPECT_LE(Read("{\"id\":\"a\",\"tags\":[\"license:" + std::string(1000, 'x') + "\"]}")->info.license.size(), 110u);
}

TEST(ListedModelTest, SumsParametersWithoutATotal) {
  EXPECT_EQ(Read(R"({"id":"a","safetensors":{"parameters":{"F32":5,"I64":7}}})")->info.params, 12);
  EXPECT_EQ(Read(R"({"id":"a","safetensors":{"parameters":{}}})")->info.params, std::nullopt);
  EXPECT_EQ(Read(R"({"id":"a","safetensors":{"total":-1}})")->info.params, std::nullopt);
  EXPECT_EQ(Read(R"({"id":"a","safetensors":{"total":1e300}})")->info.params, std::nullopt);
}

TEST(ListedModelTest, ReadsGatedOfEveryKind) {
  EXPECT_EQ(Read(R"({"id":"a","gated":false})")->info.gated, "");
  EXPECT_EQ(Read(R"({"id":"a","gated":"manual"})")->info.gated, "manual");
  EXPECT_EQ(Read(R"({"id":"a","gated":true})")->info.gated, "manual");
}

TEST(ListedModelTest, AcceptsACommitOnlyIfItIsValid) {
  EXPECT_EQ(Read(R"({"id":"a","sha":"main"})")->info.sha, "");
  EXPECT_EQ(Read(R"({"id":"a","sha":"../../../../etc/passwd/../../aaaaaaaaaaa"})")->info.sha, "");
}

TEST(ListedModelTest, RefusesAnEntryWithoutAUsableId) {
  for (const char* text : {"{}", "[]", "7", R"({"id":7})", R"({"id":"../a"})", R"({"id":"a/b/c"})"}) {
    EXPECT_FALSE(Read(text).ok()) << text;
  }
}

}  // namespace
}  // namespace breakwatch::hub
