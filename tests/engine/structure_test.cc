#include <gtest/gtest.h>

#include <functional>

#include "breakwatch/engine/make_plan.h"
#include "engine/support.h"

namespace breakwatch::engine {
namespace {

constexpr char kConfig[] = R"({"model_type": "fake", "layers": 2, "scale": 0.5, "label": {"note": 1}})";

PlanOptions Options() {
  PlanOptions options;
  options.toolchain = TestToolchain();
  options.ignored_config_keys = {{"note", "_name_or_path"}, {"problem_type"}};
  return options;
}

ModelInfo Info(const std::string& id = "a/b") { return fakes::FakeModel(id, 1, "").info; }

std::string Digest(const std::string& config, const PlanOptions& options = Options(), const ModelInfo& info = Info()) {
  auto digest = StructureDigest(info, config, options);
  EXPECT_TRUE(digest.ok()) << digest.error().message;
  return digest.ok() ? *digest : "";
}

TEST(StructureTest, IsLowerCaseSha256) {
  EXPECT_EQ(Digest(kConfig).find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(Digest(kConfig).size(), 64u);
}

TEST(StructureTest, IgnoresOrderOfKeysAndWhiteSpace) {
  EXPECT_EQ(Digest(kConfig),
            Digest("{\"scale\":0.50,\n \"label\":{\"note\":1}, \"layers\":2,\t\"model_type\":\"fake\"}"));
}

TEST(StructureTest, IgnoresWhoseModelItIs) {
  ModelInfo other = Info("c/d");
  other.sha = std::string(40, 'f');
  other.downloads = 7;
  EXPECT_EQ(Digest(kConfig), Digest(kConfig, Options(), other));
}

TEST(StructureTest, IgnoresListedKeysOfTheConfigAndOfConfigsInIt) {
  const std::string plain = R"({"layers": 2, "text_config": {"width": 8}, "encoder": {"model_type": "x", "width": 4}})";
  const std::string noted = R"({"layers": 2, "note": "z", "text_config": {"width": 8, "_name_or_path": "p"},
                                "encoder": {"model_type": "x", "width": 4, "note": true}})";
  EXPECT_EQ(Digest(plain), Digest(noted));
}

TEST(StructureTest, IncludesTrainingOnlyKeysInTrainingOnly) {
  const auto digest = [](const char* loss, const char* mode) {
    return *StructureDigest(Info(), std::string(R"({"problem_type": ")") + loss + "\"}", Options(), mode);
  };
  EXPECT_EQ(digest("regression", "eval"), digest("multi_label_classification", "eval"));
  EXPECT_NE(digest("regression", "train"), digest("multi_label_classification", "train"));
  EXPECT_NE(digest("regression", "train+minimal"), digest("multi_label_classification", "train+minimal"));
}

TEST(StructureTest, IncludesKeysOfPlainMappingsWithTheNameOfAListedKey) {
  EXPECT_NE(Digest(R"({"label": {"note": 1}})"), Digest(R"({"label": {"note": 2}})"));
}

TEST(StructureTest, CountsEveryOtherValue) {
  EXPECT_NE(Digest(R"({"layers": 2})"), Digest(R"({"layers": 3})"));
  EXPECT_NE(Digest(R"({"layers": 2})"), Digest(R"({"layers": 2, "more": null})"));
  EXPECT_NE(Digest(R"({"list": [1, 2]})"), Digest(R"({"list": [2, 1]})"));
}

TEST(StructureTest, CountsTheClass) {
  ModelInfo other = Info();
  other.architectures = {"OtherModel"};
  EXPECT_NE(Digest(kConfig), Digest(kConfig, Options(), other));
}

TEST(StructureTest, CountsTheTaskOnlyWhereItDecidesTheClass) {
  ModelInfo named = Info(), unnamed = Info(), custom = Info();
  unnamed.architectures.clear();
  custom.custom_code = true;
  std::vector<std::string> before, after;
  for (ModelInfo* info : {&named, &unnamed, &custom}) {
    before.push_back(Digest(kConfig, Options(), *info));
    info->task = "fill-mask";
    after.push_back(Digest(kConfig, Options(), *info));
  }
  EXPECT_EQ(before[0], after[0]);
  EXPECT_NE(before[1], after[1]);
  EXPECT_NE(before[2], after[2]);
}

TEST(StructureTest, CountsALibraryThatMayBeBuiltAnotherWay) {
  ModelInfo plain = Info(), sentence = Info(), timm = Info();
  plain.library = "transformers";
  sentence.library = "sentence-transformers";
  timm.library = "timm";
  EXPECT_EQ(Digest(kConfig), Digest(kConfig, Options(), plain));
  EXPECT_EQ(Digest(kConfig), Digest(kConfig, Options(), sentence));
  EXPECT_NE(Digest(kConfig), Digest(kConfig, Options(), timm));
}

TEST(StructureTest, CountsModeAndEveryPartOfTheToolchain) {
  const std::vector<std::function<void(PlanOptions&)>> changes = {
      [](PlanOptions& o) { o.toolchain.name = "nightly"; },   [](PlanOptions& o) { o.toolchain.torch = "2.16.0"; },
      [](PlanOptions& o) { o.toolchain.transformers = "6"; }, [](PlanOptions& o) { o.toolchain.python = "3.12.0"; },
      [](PlanOptions& o) { o.toolchain.device = "cuda"; },    [](PlanOptions& o) { o.toolchain.worker = "1.0.1"; },
  };
  std::set<std::string> digests = {Digest(kConfig)};
  for (const std::string_view mode : AllModes()) digests.insert(*StructureDigest(Info(), kConfig, Options(), mode));
  for (const auto& change : changes) {
    PlanOptions options = Options();
    change(options);
    digests.insert(Digest(kConfig, options));
  }
  EXPECT_EQ(digests.size(), changes.size() + AllModes().size());
}

TEST(StructureTest, CountsWhatIsMeasuredInMeasureModesOnly) {
  PlanOptions threads = Options(), dtype = Options(), repeated = Options();
  threads.measure.threads = 2;
  dtype.measure.dtype = "bfloat16";
  repeated.repeat = 3;
  EXPECT_EQ(Digest(kConfig), Digest(kConfig, threads));
  EXPECT_EQ(Digest(kConfig), Digest(kConfig, dtype));
  std::set<std::string> digests;
  for (const PlanOptions& options : {Options(), threads, dtype}) {
    digests.insert(*StructureDigest(Info(), kConfig, options, kProfileMode));
    digests.insert(*StructureDigest(Info(), kConfig, options, kBenchMode));
  }
  EXPECT_EQ(digests.size(), 6u);
  EXPECT_TRUE(digests.contains(*StructureDigest(Info(), kConfig, repeated, kProfileMode)));
}

TEST(StructureTest, OfAMeasurementIsOfItsMachine) {
  PlanOptions here = Options(), there = Options();
  here.machine = "EPYC, 2 cores, 23 GiB", there.machine = "Xeon, 2 cores, 23 GiB";
  EXPECT_NE(*StructureDigest(Info(), kConfig, here, kProfileMode),
            *StructureDigest(Info(), kConfig, there, kProfileMode));
  EXPECT_EQ(Digest(kConfig, here), Digest(kConfig, there)) << "breaks are the same everywhere";
  EXPECT_EQ(*StructureDigest(Info(), kConfig, here, kBuildMode), *StructureDigest(Info(), kConfig, there, kBuildMode));
}

TEST(StructureTest, OfAFileIsOfItsSiteAndSize) {
  PlanOptions site = Options(), minimal = Options();
  site.repro.site = "0123abcd", minimal.repro.minimal = true;
  std::set<std::string> digests;
  for (const PlanOptions& options : {Options(), site, minimal})
    digests.insert(*StructureDigest(Info(), kConfig, options, kReproMode));
  EXPECT_EQ(digests.size(), 3u);
  EXPECT_EQ(Digest(kConfig), Digest(kConfig, minimal));
}

TEST(StructureTest, OfAPinnedClassIsAnother) {
  PlanOptions pinned = Options();
  pinned.pinned_architectures = {"FakeModel"};
  EXPECT_NE(Digest(kConfig), Digest(kConfig, pinned));
}

TEST(StructureTest, RejectsAConfigThatIsNotAnObject) {
  for (const char* config : {"[1, 2]", "\"text\"", "{\"open\": ", "", "{\"bad\": NaN}"}) {
    const auto digest = StructureDigest(Info(), config, Options());
    ASSERT_FALSE(digest.ok()) << config;
    EXPECT_EQ(digest.error().code, ErrorCode::kInvalid);
    EXPECT_NE(digest.error().message.find("a/b"), std::string::npos);
  }
}

TEST(StructureTest, RefusesHostileNesting) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"a\":";
  EXPECT_FALSE(StructureDigest(Info(), deep, Options()).ok());
}

TEST(StructureTest, OfAListAreDistinctAndLeaveOutExcludedModels) {
  const RankedList list = ListOf({fakes::FakeModel("a", 1, Config(1)), fakes::FakeModel("b", 2, Config(1)),
                                  fakes::FakeModel("c", 3, Config(2)), fakes::FakeModel("d", 4, "[]"),
                                  Excluded("e", 5, Status::kSkippedGated, "gated")});
  EXPECT_EQ(StructuresOf(list, Options()).size(), 2u);
}

}  // namespace
}  // namespace breakwatch::engine
