#include "breakwatch/config/models_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/config/load.h"
#include "config_fixture.h"

namespace breakwatch::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSound = R"(
owners:
  speech:
    contact: "#speech"
    models: [family:audio, openai/whisper-*]
  all: {models: "*"}
overrides:
  - models: owner:speech and not type:wav2vec2
    modes: [eval, train, eval+minimal]
    limits: {capture: 10m, rss_bytes: 8GiB}
    inputs: {sizes: {seq: 128}, values: {mask: "1", flags: [true, 2.5, null, yes]}}
    dtype: bfloat16
    attention: eager
  - models: org/huge
    skip: needs more memory than the workers have
)";

std::string ProblemsOf(const std::string& text) {
  const auto rules = ReadModels("models.yaml", text);
  if (rules) return "accepted";
  EXPECT_EQ(rules.error().code, ErrorCode::kConfig);
  return rules.error().message;
}

TEST(ModelsFileTest, ReadsOwnersAndOverrides) {
  const auto rules = ReadModels("models.yaml", kSound);
  ASSERT_TRUE(rules.ok()) << rules.error().message;
  EXPECT_THAT(OwnerNames(rules->owners), ElementsAre("speech", "all"));
  EXPECT_EQ(rules->owners[0].contact, "#speech");
  ASSERT_EQ(rules->overrides.size(), 2u);
  const ModelOverride& rule = rules->overrides[0];
  EXPECT_THAT(rule.modes, ElementsAre("eval", "train", "eval+minimal"));
  EXPECT_EQ(rule.limits.capture, std::chrono::minutes(10));
  EXPECT_EQ(rule.limits.rss_bytes, 8LL << 30);
  EXPECT_FALSE(rule.limits.eager);
  EXPECT_EQ(rule.inputs_json, R"({"sizes":{"seq":128},"values":{"flags":[true,2.5,null,"yes"],"mask":"1"}})");
  EXPECT_EQ(rule.dtype + " " + rule.attention, "bfloat16 eager");
  EXPECT_EQ(rules->overrides[1].skip, "needs more memory than the workers have");
  EXPECT_EQ(rules->overrides[1].skip_place, "models.yaml:15:11");
}

TEST(ModelsFileTest, AnEmptyFileHasNoRules) {
  EXPECT_TRUE(ReadModels("models.yaml", "# nothing\n")->overrides.empty());
  EXPECT_TRUE(ReadModels("models.yaml", "owners: {}\noverrides: []\n")->owners.empty());
}

struct Wrong {
  const char* text;
  const char* problem;
};
class WrongModelsFileTest : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongModelsFileTest, IsRefusedWithThePlace) {
  EXPECT_THAT(ProblemsOf(GetParam().text), HasSubstr(GetParam().problem)) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Problems, WrongModelsFileTest,
    ::testing::Values(
        Wrong{"owner: {}", "models.yaml:1:1: unknown key \"owner\"; did you mean \"owners\"?"},
        Wrong{"owners: []", "models.yaml:1:9: owners: expected a mapping"},
        Wrong{"overrides: {}", "models.yaml:1:12: overrides: expected a list"},
        Wrong{"- a", "models.yaml:1:1: expected a mapping of owners, overrides"},
        Wrong{"owners: {a b: {models: x}}", "owner \"a b\": expected 1 to 63 letters"},
        Wrong{"owners: {a: {models: x}, a: {models: y}}", "\"a\" is defined twice"},
        Wrong{"owners: {a: {contact: x}}", "owner a: no models"},
        Wrong{"owners: {a: {models: famly:nlp}}", "models.yaml:1:22: models: unknown key \"famly\"; did you mean"},
        Wrong{"owners: {a: {models: status:timeout}}", "status: is not known before a capture"},
        Wrong{"owners: {a: {models: owner:b}}", "not defined by another one"},
        Wrong{"owners: {speech: {models: x}}\noverrides: [{models: owner:speach, skip: y}]",
              "models.yaml:2:22: models: unknown owner \"speach\"; did you mean \"speech\"?"},
        Wrong{"overrides: [{modes: [eval]}]", "needs the key models"},
        Wrong{"overrides: [{models: x}]", "an override of nothing"},
        Wrong{"overrides: [{models: x, mode: [eval]}]", "did you mean \"modes\"?"},
        Wrong{"overrides: [{models: x, modes: [evall]}]", "got \"evall\"; did you mean \"eval\"?"},
        Wrong{"overrides: [{models: x, modes: [eval, eval]}]", "mode eval is listed twice"},
        Wrong{"overrides: [{models: x, modes: []}]", "expected a list such as"},
        Wrong{"overrides: [{models: x, dtype: float8}]", "expected one of float32, bfloat16, float16"},
        Wrong{"overrides: [{models: x, attention: flash}]", "expected one of eager, sdpa, flex_attention"},
        Wrong{"overrides: [{models: x, limits: {capture: 5}}]", "expected a duration"},
        Wrong{"overrides: [{models: x, limits: {rss_byte: 5GiB}}]", "did you mean \"rss_bytes\"?"},
        Wrong{"overrides: [{models: x, limits: {rss_bytes: 1KiB}}]", "expected a size"},
        Wrong{"overrides: [{models: x, inputs: [1]}]", "inputs: expected a mapping"},
        Wrong{"overrides: [{models: x, skip: ''}]", "expected why the models are skipped"},
        Wrong{"overrides: [{models: x, skip: a, skip: b}]", "\"skip\" is set twice"}, Wrong{"a: [", "not YAML"},
        Wrong{"owners: {}\n---\nowners: {}", "a second document"}, Wrong{"\xff", "is not UTF-8"}));

TEST(ModelsFileTest, ReportsEveryProblem) {
  const std::string problems = ProblemsOf("owner: {}\noverrides: [{models: x, skipp: y}]\n");
  EXPECT_THAT(problems, HasSubstr("models.yaml:1:1: unknown key"));
  EXPECT_THAT(problems, HasSubstr("models.yaml:2:25: unknown key \"skipp\"; did you mean \"skip\"?"));
}

TEST(ModelsFileTest, BoundsWhatAliasesRepeat) {
  std::string text = "overrides:\n  - models: x\n    inputs:\n      a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1), name = "a" + std::to_string(i);
    text += "      " + name + ": &" + name + " [" + before;
    for (int j = 0; j < 9; ++j) text += ", " + before;
    text += "]\n";
  }
  EXPECT_THAT(ProblemsOf(text), HasSubstr("more than 10000 values"));
}

TEST(ModelsFileTest, IsReadWithTheSettings) {
  const TemporaryDirectory folder;
  const std::string path = folder.Write("models.yaml", kSound);
  Sources sources;
  sources.flags = {{"models.file", {path}}};
  const auto loaded = Load(sources);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->settings.models.rules.overrides.size(), 2u);
  EXPECT_THAT(loaded->files, ElementsAre(path)) << "workers may not read it";
  sources.flags = {{"models.file", {folder.Path("none.yaml")}}};
  EXPECT_THAT(ErrorOf(sources), HasSubstr("none.yaml: cannot be read: No such file"));
}

}  // namespace
}  // namespace breakwatch::config
