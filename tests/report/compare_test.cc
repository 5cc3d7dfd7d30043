#include "breakwatch/report/compare.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "breakwatch/core/json.h"
#include "csv_reader.h"
#include "sample_sweep.h"

namespace breakwatch::report {
namespace {

using testing::HasSubstr;

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(BREAKWATCH_TEST_DATA) + "/report/" + name;
  if (std::getenv("BREAKWATCH_UPDATE_GOLDENS")) std::ofstream(path) << text;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

// A newer torch: one model has no breaks now, one has other breaks, one failed, one is gone, one is new, the rest is
// unchanged.
compare::Comparison Sample() {
  const std::vector<ModelResult> before = SampleResults();
  std::vector<ModelResult> after = before;
  after[0] = Captured("sample/whole", {Site("Unsupported | builtin `print`", "", 2, 9)});
  after[1].capture = Captured("sample/broken", {Site("Data-dependent branching", "GB9001", 1, 7)}).capture;
  after[2].capture = Ended("sample/one-reason", Status::kCrashed, "signal 11").capture;
  after[6].info.id = "sample/new";
  for (ModelResult& result : after) result.capture.toolchain.torch = "2.16.0";
  return compare::Compare({"sweep one", before}, {"sweep | two \x1b[31m", after});
}

TEST(CompareTest, FormatsThatShowTheComparisonAloneNeedNoMoreThanItKeeps) {
  std::vector<ModelResult> before = SampleResults(), after = before;
  after[0] = Captured("sample/whole", {Site("Unsupported", "", 2, 9)});
  after[6].info.id = "sample/new";
  for (std::vector<ModelResult>* side : {&before, &after}) {
    for (ModelResult& result : *side) {
      result.capture.error = "Traceback", result.capture.output_tail = "printed", result.capture.inputs_json = "{}";
      result.capture.segments.resize(2);
      for (BreakSite& site : result.capture.sites) {
        site.explanation = "why", site.context = "what", site.hints = {"do this"}, site.stack = {"a.py:1 in forward"};
        site.module_path = "encoder.layer.0";
      }
    }
  }
  const compare::Gated whole = compare::CompareWithGate({"A", before}, {"B", after}, {});
  std::vector<ModelResult> kept_before = before, kept_after = after;
  for (std::vector<ModelResult>* side : {&kept_before, &kept_after}) {
    for (ModelResult& result : *side) compare::KeepCompared(result);
  }
  EXPECT_LT(ToJson(kept_before[0]).size(), ToJson(before[0]).size());
  const compare::Gated kept = compare::CompareWithGate({"A", kept_before}, {"B", kept_after}, {});
  for (const Format format : {Format::kText, Format::kMarkdown, Format::kCsv, Format::kJson}) {
    ASSERT_TRUE(ShowsComparisonAlone(format));
    EXPECT_EQ(
        RenderComparison({.comparison = kept.comparison, .gate = &kept.gate, .all = true}, format),
        RenderComparison({.comparison = whole.comparison, .gate = &whole.gate, .results = after, .all = true}, format))
        << static_cast<int>(format);
  }
  EXPECT_FALSE(ShowsComparisonAlone(Format::kHtml));
  EXPECT_FALSE(ShowsComparisonAlone(Format::kSarif));
}

compare::Bisection SampleBisection() {
  std::vector<compare::CombinationResult> combinations(4);
  for (unsigned i = 0; i < 4; ++i) {
    combinations[i].combination = i;
    combinations[i].torch = i & 1 ? "2.15.0" : "2.13.0", combinations[i].transformers = i & 2 ? "5.23.0" : "5.8.0";
    combinations[i].commit = std::string(40, 'a'), combinations[i].toolchain = "toolchain " + std::to_string(i);
  }
  combinations[0].result = Captured("sample/a", {});
  combinations[1].why = "ImportError: transformers wants torch >= 2.14";
  combinations[2].result = Captured("sample/a", {});
  combinations[3].result = Captured("sample/a", {Site("Data-dependent branching", "GB9001", 3, 7)});
  return compare::Bisect("sample/a", 3, std::move(combinations));
}

TEST(CompareTest, ComparisonIsTheGoldenTextAndMarkdown) {
  ExpectGolden("compare.txt", RenderComparison({.comparison = Sample()}, Format::kText));
  ExpectGolden("compare.md", RenderComparison({.comparison = Sample()}, Format::kMarkdown));
}

TEST(CompareTest, SeveralModesAreCountedAsResults) {
  std::vector<ModelResult> results(2, Captured("sample/a", {}));
  results[1].capture.mode = "train";
  const auto text = RenderComparison({.comparison = compare::Compare({"A", results}, {"B", results})}, Format::kText);
  EXPECT_THAT(text, HasSubstr("2 results: 2 the same. 2 results compared: "));
}

TEST(CompareTest, JsonHasEveryModelAndTotalsOfBothSides) {
  const auto json = nlohmann::json::parse(RenderComparison({.comparison = Sample()}, Format::kJson));
  EXPECT_EQ(json["models"].size(), 8u);
  EXPECT_EQ(json["models"][0]["note"], "graph_breaks -> crashed: signal 11");
  EXPECT_EQ(json["models"][0]["verdict"], "worse");
  EXPECT_EQ(json["models"][1]["model"], "sample/whole");
  EXPECT_EQ(json["models"][1]["verdict"], "worse");
  EXPECT_EQ(json["models"][1]["new_sites"][0]["breaks_b"], 2);
  EXPECT_EQ(json["models"][1]["differences"][0]["what"], "torch");
  EXPECT_EQ(json["verdicts"]["worse"], 2);
  EXPECT_EQ(json["totals"]["all"]["a"]["models"], 7);
  EXPECT_EQ(json["reasons"].size(), 2u);
}

TEST(CompareTest, CsvHasARowPerModel) {
  const auto rows = ParseCsv(RenderComparison({.comparison = Sample()}, Format::kCsv));
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(rows[0][2], "verdict");
}

TEST(CompareTest, ModelsThatStayedAreListedOnRequestOnly) {
  EXPECT_EQ(RenderComparison({.comparison = Sample()}, Format::kText).find("sample/known"), std::string::npos);
  EXPECT_THAT(RenderComparison({.comparison = Sample(), .all = true}, Format::kText), HasSubstr("sample/known"));
}

TEST(CompareTest, BisectionIsTheGoldenTextAndMarkdown) {
  ExpectGolden("bisect.txt", RenderBisection(SampleBisection(), Format::kText));
  ExpectGolden("bisect.md", RenderBisection(SampleBisection(), Format::kMarkdown));
  const auto json = nlohmann::json::parse(RenderBisection(SampleBisection(), Format::kJson));
  EXPECT_EQ(json["verdict"]["factors"], nlohmann::json({"torch"}));
  EXPECT_EQ(json["verdict"]["certain"], false);
  EXPECT_EQ(json["combinations"].size(), 4u);
  EXPECT_EQ(json["combinations"][1]["status"], nullptr);
  EXPECT_EQ(json["sites"][0]["changed_by"]["cause"], "alone");
}

}  // namespace
}  // namespace breakwatch::report
