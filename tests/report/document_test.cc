// Complete documents, compared with files that a person has checked. BREAKWATCH_UPDATE_GOLDENS=1 writes the files
// again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "breakwatch/report/sweep.h"
#include "csv_reader.h"
#include "fakes/result_fields.h"
#include "sample_sweep.h"

namespace breakwatch::report {
namespace {

void ExpectGolden(const std::string& name, const std::string& text) {
  const std::string path = std::string(BREAKWATCH_TEST_DATA) + "/report/" + name;
  if (std::getenv("BREAKWATCH_UPDATE_GOLDENS")) std::ofstream(path) << text;
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

TEST(DocumentTest, SweepIsTheGoldenTextAndMarkdown) {
  ExpectGolden("sweep.txt", RenderSweep({.sweep = SampleSweep(), .results = SampleResults()}, Format::kText));
  ExpectGolden("sweep.md", RenderSweep({.sweep = SampleSweep(), .results = SampleResults()}, Format::kMarkdown));
}

TEST(DocumentTest, PlanIsTheGoldenText) { ExpectGolden("plan.txt", RenderPlan(SamplePlan(), Format::kText)); }

TEST(DocumentTest, ModelIsTheGoldenTextAndMarkdown) {
  const auto results = SampleResults();
  ExpectGolden("model-broken.txt", RenderModel(results[1], Format::kText));
  ExpectGolden("model-broken.md", RenderModel(results[1], Format::kMarkdown));
  ExpectGolden("model-shared.txt", RenderModel(results[2], Format::kText));
  ExpectGolden("model-failed.txt", RenderModel(results[4], Format::kText));
}

TEST(DocumentTest, ModelWithGraphsAndOtherResultsIsTheGoldenTextAndMarkdown) {
  std::vector<ModelResult> all = {Detailed(), Detailed(), Detailed()};
  all[1].capture.mode = "eval", all[2].capture.toolchain.name = "old", all[2].capture.status = Status::kTimeout;
  ExpectGolden("model-detailed.txt", RenderModel(all[0], Format::kText, {}, all));
  ExpectGolden("model-detailed.md", RenderModel(all[0], Format::kMarkdown, {}, all));
  const auto json = nlohmann::json::parse(RenderModel(all[0], Format::kJson, {}, all));
  EXPECT_EQ(json["segments"].size(), 3u);
  EXPECT_EQ(json["segments"][0]["ended_by"], json["sites"][0]["site_id"]);
  EXPECT_EQ(json["segments"][0]["guards"], nullptr);
  EXPECT_EQ(json["mode_detail"]["first_error"]["line"], 7);
  EXPECT_EQ(json["sites"][0]["module_path"], "encoder.layer.0");
  ASSERT_EQ(json["other_results"].size(), 2u);
  EXPECT_EQ(json["other_results"][1]["toolchain"], "old");
}

TEST(DocumentTest, ManyGraphsAreCutForPeopleOnly) {
  ModelResult result = Captured("sample/many", {});
  result.capture.segments.resize(100);
  const std::string text = RenderModel(result, Format::kText);
  EXPECT_NE(text.find("and 60 more graphs"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(RenderModel(result, Format::kJson))["segments"].size(), 100u);
}

TEST(DocumentTest, OpsOfTheReducedRunNeverStandBesideGraphsOfTheFullOne) {
  ModelResult result = Detailed();
  result.capture.depth = "full", result.capture.ops_depth = "reduced";
  const std::string apart = "\n  ops           42 in the reduced run; all other numbers and the graphs below";
  std::string text = RenderModel(result, Format::kText);
  EXPECT_NE(text.find(apart), std::string::npos) << text;
  EXPECT_EQ(text.find("ops 42"), std::string::npos) << text;
  const std::string sweep = RenderSweep({.sweep = SampleSweep(), .results = std::vector{result}}, Format::kText);
  EXPECT_NE(sweep.find("OPS of models captured at full depth come from the reduced run"), std::string::npos);

  result.capture.ops_depth.clear();  // from an older worker: the graphs' operations are other ones
  EXPECT_NE(RenderModel(result, Format::kText).find(apart), std::string::npos);
  result.capture.ops_captured = 4 + 5 + 6;  // a class pinned to full depth: one run
  text = RenderModel(result, Format::kText);
  EXPECT_NE(text.find("graphs 3, breaks 3, sites 2, reasons 2, ops 15"), std::string::npos) << text;
}

TEST(DocumentTest, GraphsKeepTheirLineHoweverNarrowTheTerminal) {
  ModelResult result = Detailed();
  for (GraphSegment& segment : result.capture.segments) {
    segment.file = "transformers/models/a_model_with_a_long_name/modeling_a_model_with_a_long_name.py";
    segment.line += 1200, segment.function = "torch_dynamo_resume_in_forward_at_1207";
  }
  for (const std::size_t width : {0, 60, 80, 120}) {
    const std::string text = RenderModel(result, Format::kText, {.width = width});
    EXPECT_NE(text.find(".py:1205"), std::string::npos) << width << "\n" << text;
    EXPECT_NE(text.find(".py:1207"), std::string::npos) << width;
  }
}

TEST(DocumentTest, ExplanationsHaveShortPathsAndLinesThatFit) {
  ModelResult result = Detailed();
  std::string& why = result.capture.sites[0].explanation;
  why = "Met in File \"/opt/venv/lib/python3.11/site-packages/transformers/models/bart/modeling_bart.py\", line 980, ";
  for (int i = 0; i < 40; ++i) why += "while tracing ";
  why += "/home/ada/nets/mine.py:3";
  for (const std::size_t width : {0, 72}) {
    const std::string text = RenderModel(result, Format::kText, {.width = width, .home = "/home/ada"});
    EXPECT_NE(text.find("\"transformers/models/bart/modeling_bart.py\","), std::string::npos) << text;
    EXPECT_NE(text.find("~/nets/mine.py:3"), std::string::npos) << text;
    EXPECT_EQ(text.find("/opt/"), std::string::npos);
    std::istringstream lines(text);
    std::string line;
    while (std::getline(lines, line)) {
      const bool prose = line.find("while tracing") != std::string::npos;
      EXPECT_TRUE(!prose || line.size() <= (width == 0 ? 100 : width)) << line;
    }
  }
  EXPECT_NE(RenderModel(result, Format::kMarkdown).find("\"transformers/models/bart"), std::string::npos);
}

TEST(DocumentTest, OptionalArgumentsAreNamedAsPassedOrNot) {
  ModelResult result = Detailed();
  result.capture.optional_passed = {"attention_mask"}, result.capture.optional_left_out = {"labels", "use_cache"};
  EXPECT_NE(RenderModel(result, Format::kText).find("passed: attention_mask; not passed: labels, use_cache"),
            std::string::npos);
  result.capture.optional_passed.clear();
  EXPECT_NE(RenderModel(result, Format::kMarkdown).find("passed: none; not passed: labels"), std::string::npos);
}

TEST(DocumentTest, SelectsAResultByModeAndToolchain) {
  std::vector<ModelResult> all = {Detailed(), Detailed(), Detailed()};
  all[1].capture.mode = all[2].capture.mode = "eval", all[2].capture.toolchain.name = "old";
  EXPECT_EQ(SelectResult(all, "", ""), &all[1]);
  EXPECT_EQ(SelectResult(all, "train", ""), &all[0]);
  EXPECT_EQ(SelectResult(all, "", "old"), &all[2]);
  EXPECT_EQ(SelectResult(all, "train", "old"), nullptr);
  EXPECT_EQ(SelectResult(std::span(all).first(1), "", ""), &all[0]) << "no eval: whatever there is";
}

TEST(DocumentTest, JsonHasEveryResultAndTheContractsFields) {
  const auto json =
      nlohmann::json::parse(RenderSweep({.sweep = SampleSweep(), .results = SampleResults()}, Format::kJson));
  EXPECT_EQ(json["sweep"]["sweep_id"], SampleSweep().id);
  ASSERT_EQ(json["results"].size(), 7u);
  EXPECT_EQ(json["reasons"].size(), 2u);
  EXPECT_EQ(json["failures"].size(), 3u);
  for (const char* field : kResultFields) {
    EXPECT_TRUE(json["results"][1].contains(field)) << field;
  }
}

TEST(DocumentTest, PlanJsonLeavesOutConfigs) {
  const std::string text = RenderPlan(SamplePlan(), Format::kJson);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["models"].size(), 7u);
  EXPECT_EQ(json["plan"]["sweep_id"], SamplePlan().sweep_id);
  EXPECT_EQ(text.find("\"alpha\""), std::string::npos);
}

TEST(DocumentTest, ModelCsvHasARowPerSite) {
  const auto rows = ParseCsv(RenderModel(SampleResults()[1], Format::kCsv));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0][3], "reason");
  EXPECT_EQ(rows[2][3], "Unsupported | builtin `print`");
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
}

// No text of a model is executed by a terminal or ends a Markdown cell.
TEST(DocumentTest, HostileTextsStayTexts) {
  const auto results = SampleResults();
  for (const ModelResult& result : results) {
    EXPECT_EQ(RenderModel(result, Format::kText).find('\x1b'), std::string::npos);
    EXPECT_EQ(RenderModel(result, Format::kMarkdown).find('\x1b'), std::string::npos);
  }
  std::istringstream lines(RenderSweep({.sweep = SampleSweep(), .results = results}, Format::kMarkdown));
  std::string header, line;
  const auto bars = [](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < text.size(); ++i) count += text[i] == '|' && (i == 0 || text[i - 1] != '\\');
    return count;
  };
  while (std::getline(lines, line)) {
    if (!line.starts_with("|")) header.clear();
    if (line.starts_with("|") && header.empty()) header = line;
    EXPECT_TRUE(header.empty() || bars(line) == bars(header)) << line;
  }
}

}  // namespace
}  // namespace breakwatch::report
