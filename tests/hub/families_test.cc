#include "families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/temporary_directory.h"

namespace breakwatch::hub {
namespace {

using ::testing::HasSubstr;

const FamilyTable& Table() {
  static const Result<FamilyTable> kTable = FamilyTable::Load("");
  return *kTable;
}

TEST(FamiliesTest, TheBuiltInTableIsTheFileInConfig) {
  fakes::TemporaryDirectory unused;
  std::ostringstream text;
  text << std::ifstream(BREAKWATCH_SOURCE_DIR "/config/families.yaml").rdbuf();
  EXPECT_EQ(text.str(), BuiltInFamilies());
  EXPECT_TRUE(FamilyTable::Load(BREAKWATCH_SOURCE_DIR "/config/families.yaml").ok());
}

// The Hub's tasks as its clients list them, in its own groups.
TEST(FamiliesTest, EveryPipelineTagHasAFamily) {
  const std::map<Family, std::vector<std::string>> kTags = {
      {Family::kNlp,
       {"text-classification", "token-classification", "table-question-answering", "question-answering",
        "zero-shot-classification", "translation", "summarization", "feature-extraction", "text-generation",
        "text2text-generation", "fill-mask", "sentence-similarity", "table-to-text", "multiple-choice", "text-ranking",
        "text-retrieval"}},
      {Family::kAudio,
       {"text-to-speech", "text-to-audio", "automatic-speech-recognition", "audio-to-audio", "audio-classification",
        "voice-activity-detection"}},
      {Family::kVision,
       {"depth-estimation", "image-classification", "object-detection", "image-segmentation", "text-to-image",
        "image-to-text", "image-to-image", "image-to-video", "unconditional-image-generation", "video-classification",
        "text-to-video", "zero-shot-image-classification", "mask-generation", "zero-shot-object-detection",
        "text-to-3d", "image-to-3d", "image-feature-extraction", "keypoint-detection"}},
      {Family::kMultimodal,
       {"audio-text-to-text", "image-text-to-text", "visual-question-answering", "document-question-answering",
        "video-text-to-text", "visual-document-retrieval", "any-to-any"}},
      {Family::kTabular,
       {"tabular-classification", "tabular-regression", "tabular-to-text", "time-series-forecasting"}},
      {Family::kReinforcementLearning, {"reinforcement-learning", "robotics"}},
      {Family::kOther, {"graph-ml", "other"}},
  };
  std::size_t count = 0;
  for (const auto& [family, tags] : kTags) {
    for (const std::string& tag : tags) EXPECT_EQ(Table().Find(tag, "", {}), family) << tag;
    count += tags.size();
  }
  EXPECT_GE(count, 47u);
  EXPECT_GE(Table().pipeline_tags().size(), count);
}

TEST(FamiliesTest, ADecidingTagWinsOverTheModelType) {
  EXPECT_EQ(Table().Find("automatic-speech-recognition", "bert", {}), Family::kAudio);
}

TEST(FamiliesTest, AHintingTagYieldsToAKnownModelType) {
  EXPECT_EQ(Table().Find("feature-extraction", "clip", {}), Family::kMultimodal);
  EXPECT_EQ(Table().Find("zero-shot-image-classification", "clip", {}), Family::kMultimodal);
  EXPECT_EQ(Table().Find("feature-extraction", "no_such_type_x", {}), Family::kNlp);
}

TEST(FamiliesTest, WithoutATagTheModelTypeDecidesThenThePattern) {
  EXPECT_EQ(Table().Find("", "vit", {}), Family::kVision);
  EXPECT_EQ(Table().Find("", "whisper", {}), Family::kAudio);
  EXPECT_EQ(Table().Find("", "decision_transformer", {}), Family::kReinforcementLearning);
  EXPECT_EQ(Table().Find("", "patchtst", {}), Family::kTabular);
  EXPECT_EQ(Table().Find("", "somebert_of_tomorrow", {}), Family::kNlp);
  EXPECT_EQ(Table().Find("", "newllava_9", {}), Family::kMultimodal);
  EXPECT_EQ(Table().Find("", "molmo", {"MolmoForCausalLM"}), Family::kMultimodal);
}

TEST(FamiliesTest, LastOfAllTheArchitectureDecides) {
  EXPECT_EQ(Table().Find("", "", {"FooForCTC"}), Family::kAudio);
  EXPECT_EQ(Table().Find("", "zzz", {"Bar", "ZzzForImageClassification"}), Family::kVision);
  EXPECT_EQ(Table().Find("", "", {"FooForCausalLM"}), Family::kNlp);
  EXPECT_EQ(Table().Find("", "", {"Foo"}), Family::kUnknown);
  EXPECT_EQ(Table().Find("unheard-of", "", {}), Family::kUnknown);
}

TEST(FamiliesTest, KnowsLibrariesThatHoldNoModelOfOurs) {
  EXPECT_THAT(Table().UnsupportedLibrary("gguf").value_or(""), HasSubstr("GGUF"));
  EXPECT_FALSE(Table().UnsupportedLibrary("transformers"));
  EXPECT_FALSE(Table().UnsupportedLibrary(""));
}

TEST(FamiliesTest, RefusesATableWithLineAndNearestName) {
  const auto unknown = FamilyTable::Parse("pipeline_tags:\n  visoin: [depth-estimation]\n", "mine.yaml");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kConfig);
  EXPECT_THAT(unknown.error().message,
              HasSubstr("mine.yaml: line 2: unknown family \"visoin\", did you mean \"vision\""));
  EXPECT_FALSE(FamilyTable::Parse("tags: {}\n", "x").ok());
  EXPECT_FALSE(FamilyTable::Parse("[1, 2", "x").ok());
  EXPECT_FALSE(FamilyTable::Parse("- a\n", "x").ok());
  EXPECT_EQ(FamilyTable::Load("/nowhere/families.yaml").error().code, ErrorCode::kConfig);
}

}  // namespace
}  // namespace breakwatch::hub
