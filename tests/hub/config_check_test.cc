#include "config_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace breakwatch::hub {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RankedModel Take(const std::string& text, const HubOptions& options = {}) {
  static const Result<FamilyTable> kFamilies = FamilyTable::Load("");
  RankedModel model;
  model.info.model_type = "from_the_listing";
  TakeConfig(text, *kFamilies, options, model);
  return model;
}

TEST(ConfigCheckTest, TheFileWinsOverTheListing) {
  const RankedModel model = Take(R"({"model_type":"vit","architectures":["ViTModel"],"auto_map":{"AutoModel":"m.M"}})");
  EXPECT_FALSE(model.excluded);
  EXPECT_EQ(model.info.model_type, "vit");
  EXPECT_THAT(model.info.architectures, ElementsAre("ViTModel"));
  EXPECT_EQ(model.info.family, Family::kVision);
  EXPECT_TRUE(model.info.custom_code);
}

TEST(ConfigCheckTest, KeepsTheTextAsItIs) {
  const std::string text = "{\n  \"model_type\" : \"bert\", \"x\": 1.50\n}\n";
  EXPECT_EQ(Take(text).config_json, text);
}

TEST(ConfigCheckTest, SpellsNonFiniteNumbersAsTransformersDoes) {
  const RankedModel model = Take(R"({"a":[0.0, Infinity],"b":-Infinity,"c":NaN,"d":"NaN \" Infinity","NaN":1})");
  ASSERT_FALSE(model.excluded) << model.detail;
  const auto json = nlohmann::json::parse(model.config_json);
  EXPECT_EQ(json["a"][1]["__float__"], "Infinity");
  EXPECT_EQ(json["b"]["__float__"], "-Infinity");
  EXPECT_EQ(json["c"]["__float__"], "NaN");
  EXPECT_EQ(json["d"], "NaN \" Infinity");
  EXPECT_EQ(json["NaN"], 1);
}

TEST(ConfigCheckTest, LeavesTheDecisionAboutCodeToTheWorkerWhenAClassIsNamed) {
  EXPECT_FALSE(Take(R"({"auto_map":{"AutoModel":"m.M"},"architectures":["M"]})").excluded);
  EXPECT_FALSE(Take(R"({"auto_map":{"AutoModel":"m.M"},"model_type":"m"})").excluded);
  EXPECT_EQ(Take(R"({"auto_map":{"AutoModel":"m.M"}})").excluded, Status::kSkippedCustomCode);
  EXPECT_FALSE(Take("{}").excluded);
}

TEST(ConfigCheckTest, RefusesWithAText) {
  HubOptions small;
  small.max_config_bytes = 100;
  for (const std::string& text :
       {std::string(""), std::string("null"), std::string("3"), std::string("\"x\""), std::string("{\"a\":1}x"),
        std::string(90, '['), std::string(200, ' '), std::string("{\"a\":\"\xc3\x28\"}")}) {
    const RankedModel model = Take(text, small);
    EXPECT_EQ(model.excluded, Status::kFailedResolve) << text;
    EXPECT_THAT(model.detail, HasSubstr("config.json")) << text;
    EXPECT_EQ(model.config_json, "");
  }
}

TEST(ConfigCheckTest, RefusesAnObjectOfMoreMembersThanAnyClassifierHasLabels) {
  const auto labels = [](int count) {
    nlohmann::json config = {{"model_type", "vit"}};
    for (int i = 0; i < count; ++i) config["id2label"][std::to_string(i)] = "x";
    return Take(config.dump());
  };
  EXPECT_FALSE(labels(22'000).excluded);
  EXPECT_EQ(labels(40'000).excluded, Status::kFailedResolve);
  EXPECT_THAT(labels(40'000).detail, HasSubstr("40000 members"));
}

}  // namespace
}  // namespace breakwatch::hub
