#include "recorded.h"

#include <gmock/gmock.h>

namespace breakwatch::artifact {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Manifest Good() {
  Manifest manifest;
  manifest.inputs_json = R"([{"name":"input_ids","dtype":"int64","shape":[2,16]}])";
  manifest.outputs_json = R"([{"path":"logits","dtype":"float32","shape":[]}])";
  manifest.tolerance_json = R"({"float32":{"rtol":0.001,"atol":0}})";
  return manifest;
}

std::string WhyNot(const Manifest& manifest) {
  const auto recorded = ReadRecorded(manifest);
  return recorded ? "" : recorded.error().message;
}

TEST(RecordedTest, ReadsArgumentsOutputsAndTolerances) {
  const auto recorded = ReadRecorded(Good());
  ASSERT_TRUE(recorded.ok()) << recorded.error().message;
  EXPECT_EQ(recorded->inputs[0].name, "input_ids");
  EXPECT_THAT(recorded->inputs[0].shape, ElementsAre(2, 16));
  EXPECT_EQ(recorded->outputs[0].dtype, "float32");
  EXPECT_EQ(recorded->tolerance.at("float32").rtol, 0.001);
}

TEST(RecordedTest, NamesTheFieldThatIsWrong) {
  Manifest manifest = Good();
  manifest.inputs_json = R"([{"name":"x","dtype":"int64","shape":[2,-1]}])";
  EXPECT_THAT(WhyNot(manifest), HasSubstr("\"inputs[0].shape\""));
  manifest.inputs_json = R"([{"name":"x","dtype":"string","shape":[2]}])";
  EXPECT_THAT(WhyNot(manifest), HasSubstr("\"inputs[0].dtype\""));
  manifest.inputs_json = R"([{"path":"x","dtype":"int64","shape":[2]}])";
  EXPECT_THAT(WhyNot(manifest), HasSubstr("\"inputs[0]\" must have name"));
  manifest.inputs_json = "{}";
  EXPECT_THAT(WhyNot(manifest), HasSubstr("\"inputs\""));
  manifest = Good();
  manifest.outputs_json = "[[[[[[]]]]]]";
  EXPECT_THAT(WhyNot(manifest), HasSubstr("\"outputs\""));
}

TEST(RecordedTest, RefusesAToleranceThatIsNoSmallNumber) {
  for (const char* value : {"-1", "1e300", "\"1\"", "null"}) {
    Manifest manifest = Good();
    manifest.tolerance_json = std::string(R"({"float32":{"rtol":)") + value + R"(,"atol":0}})";
    EXPECT_THAT(WhyNot(manifest), HasSubstr("\"tolerance.float32\"")) << value;
  }
  Manifest manifest = Good();
  manifest.tolerance_json = R"({"float31":{"rtol":0,"atol":0}})";
  EXPECT_THAT(WhyNot(manifest), HasSubstr("\"tolerance.float31\""));
}

}  // namespace
}  // namespace breakwatch::artifact
