#include "recorded.h"

#include <gmock/gmock.h>

namespace breakwatch::artifact {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Package Good() {
  Package package;
  package.manifest_text = "{}";
  Manifest& manifest = package.manifest;
  manifest.inputs_json = R"([{"name":"input_ids","dtype":"int64","shape":[2,16]}])";
  manifest.outputs_json = R"([{"path":"logits","dtype":"float32","shape":[]}])";
  manifest.tolerance_json = R"({"float32":{"rtol":0.001,"atol":0}})";
  return package;
}

std::string WhyNot(const Package& package) {
  const auto recorded = ReadRecorded(package);
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
  Package package = Good();
  Manifest& manifest = package.manifest;
  manifest.inputs_json = R"([{"name":"x","dtype":"int64","shape":[2,-1]}])";
  EXPECT_THAT(WhyNot(package), HasSubstr("\"inputs[0].shape\""));
  manifest.inputs_json = R"([{"name":"x","dtype":"string","shape":[2]}])";
  EXPECT_THAT(WhyNot(package), HasSubstr("\"inputs[0].dtype\""));
  manifest.inputs_json = R"([{"path":"x","dtype":"int64","shape":[2]}])";
  EXPECT_THAT(WhyNot(package), HasSubstr("\"inputs[0]\" must have name"));
  manifest.inputs_json = "{}";
  EXPECT_THAT(WhyNot(package), HasSubstr("\"inputs\""));
  package = Good();
  manifest.outputs_json = "[[[[[[]]]]]]";
  EXPECT_THAT(WhyNot(package), HasSubstr("\"outputs\""));
}

TEST(RecordedTest, RefusesAToleranceThatIsNoSmallNumber) {
  for (const char* value : {"-1", "1e300", "\"1\"", "null"}) {
    Package package = Good();
    package.manifest.tolerance_json = std::string(R"({"float32":{"rtol":)") + value + R"(,"atol":0}})";
    EXPECT_THAT(WhyNot(package), HasSubstr("\"tolerance.float32\"")) << value;
  }
  Package package = Good();
  package.manifest.tolerance_json = R"({"float31":{"rtol":0,"atol":0}})";
  EXPECT_THAT(WhyNot(package), HasSubstr("\"tolerance.float31\""));
}

TEST(RecordedTest, KnowsWhetherTheCallFlushedDenormalNumbers) {
  Package package = Good();
  EXPECT_FALSE(ReadRecorded(package)->flush_denormals);
  package.manifest_text = R"({"flush_denormals": true})";
  EXPECT_TRUE(ReadRecorded(package)->flush_denormals);
  package.manifest_text = R"({"flush_denormals": 1})";
  EXPECT_THAT(WhyNot(package), HasSubstr("\"flush_denormals\""));
}

TEST(RecordedTest, ADynamicPackageNeedsASecondBatch) {
  Manifest manifest;
  manifest.target = "torchscript";
  for (const char* name : {"module.pt", "inputs.safetensors", "outputs.safetensors"})
    manifest.files.push_back({name, "", 0});
  EXPECT_EQ(WhyIncomplete(manifest), "");
  manifest.dynamic = true;
  EXPECT_THAT(WhyIncomplete(manifest), HasSubstr("lists no inputs-2.safetensors, the other batch"));
  manifest.files.push_back({"inputs-2.safetensors", "", 0});
  EXPECT_THAT(WhyIncomplete(manifest), HasSubstr("lists no outputs-2.safetensors"));
  manifest.files.push_back({"outputs-2.safetensors", "", 0});
  EXPECT_EQ(WhyIncomplete(manifest), "");
  manifest.target = "aot_inductor";
  EXPECT_EQ(WhyIncomplete(manifest), "the manifest lists no package.pt2");
}

TEST(RecordedTest, TheCallHasTheTensorsThatTheManifestDescribes) {
  const std::vector<TensorSpec> specs{{"x", "float32", {2, 4}}};
  EXPECT_EQ(WhyNotDescribed(specs, {{DTypeOfTorch("float32"), {2, 4}, {}}}), "");
  EXPECT_THAT(WhyNotDescribed(specs, {}), HasSubstr("0 tensors, the manifest has 1"));
  EXPECT_THAT(WhyNotDescribed(specs, {{DTypeOfTorch("float32"), {2, 5}, {}}}), HasSubstr("tensor 0"));
  EXPECT_THAT(WhyNotDescribed(specs, {{DTypeOfTorch("int64"), {2, 4}, {}}}), HasSubstr("tensor 0"));
}

TEST(RecordedTest, AnotherBatchHasAnotherSize) {
  const TensorBytes two{nullptr, {2, 4}, {}}, three{nullptr, {3, 4}, {}}, mask{nullptr, {4}, {}};
  EXPECT_TRUE(IsOtherBatch({two, mask}, {three, mask}));
  EXPECT_FALSE(IsOtherBatch({two, mask}, {two, mask}));
  EXPECT_FALSE(IsOtherBatch({two}, {three, mask}));
  EXPECT_FALSE(IsOtherBatch({}, {}));
}

}  // namespace
}  // namespace breakwatch::artifact
