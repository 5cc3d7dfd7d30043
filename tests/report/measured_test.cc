#include "breakwatch/report/measured.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "csv_reader.h"
#include "fakes/sample_measurement.h"

namespace breakwatch::report {
namespace {

using testing::HasSubstr;
using testing::Not;

ModelResult Result(const std::string& mode = "bench") {
  ModelResult result;
  result.info.id = "org/name";
  result.info.sha = std::string(40, 'a');
  result.info.downloads = 1000;
  result.capture = fakes::MeasuredCapture({{{"plain", 0.004}, {"eager", 0.00401}, {"inductor", 0.002}}}, mode);
  return result;
}

// A profile with a hostile worker's texts.
ModelResult Profile() {
  ModelResult result = Result("profile");
  result.capture.sites = {fakes::FakeSite("branching", "GB0170", 2)};
  const std::string site = result.capture.sites[0].site_id;
  result.capture.mode_detail_json =
      R"({"measure": {"threads": 2}, "noise": {"spread": 0.5, "quiet": false}, "profiles": [{"batch": 2, "segments": [
      {"index": 0, "kind": "graph", "graph": 1, "calls": 1, "file": "a|b.py", "line": 3, "ops": 4, "cells":
        {"eager": {"status": "ok", "runs": 30, "median_s": 0.001, "share": 0.75},
         "inductor": {"status": "failed", "detail": "a\u001b[31m=1+1|x", "runs": 0, "failures": 1}}},
      {"index": 1, "kind": "python", "calls": 1, "ended_by": ")" +
      site + R"(", "cells": {"eager":
        {"status": "ok", "runs": 30, "median_s": 0.0005, "share": 0.25}}}],
      "totals": {"eager": {"status": "ok", "runs": 30, "median_s": 0.002}},
      "whole": {"available": true, "how": "fullgraph", "cells": {"eager": {"status": "ok", "median_s": 0.001}}},
      "break_costs": [{"site_id": ")" +
      site + R"(", "reason": "branching", "gb_id": "GB0170", "occurrences": 2,
        "between_s": 0.0005, "fusion_s": 0.0006, "shared_with": 1}]}]})";
  return result;
}

TEST(MeasuredTest, AProfileNamesSegmentsByGraphAndBreak) {
  const std::vector<ModelResult> results{Profile()};
  const std::string text = RenderProfiles(results, nullptr, Format::kText);
  EXPECT_THAT(text, HasSubstr("batch 2, on cpu, 2 threads, reduced model"));
  EXPECT_THAT(text, HasSubstr("graph 1"));
  EXPECT_THAT(text, HasSubstr("Python after break 1  fake/modeling_fake.py:7"));
  EXPECT_THAT(text, HasSubstr("too noisy for these numbers to be compared: 50.0 % spread before"));
  EXPECT_THAT(text, HasSubstr("As one graph (fullgraph): eager 1.000 ms"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(RenderProfiles(results, nullptr, Format::kMarkdown), Not(HasSubstr("a|b.py")));
}

TEST(MeasuredTest, AModelOfOneGraphHasNoFurtherTimesAsOneGraph) {
  std::vector<ModelResult> results{Profile()};
  results[0].capture.mode_detail_json = R"({"profiles": [{"batch": 2, "totals": {"eager": {"status": "ok"}},
      "whole": {"available": true, "how": "fullgraph", "cells": {}}}]})";
  EXPECT_THAT(RenderProfiles(results, nullptr, Format::kText), Not(HasSubstr("As one graph")));
}

TEST(MeasuredTest, ACsvOfAProfileHasARowPerSegmentAndTotal) {
  const std::vector<ModelResult> results{Profile()};
  const auto rows = ParseCsv(RenderProfiles(results, nullptr, Format::kCsv));
  ASSERT_EQ(rows.size(), 5u);  // with the header
  EXPECT_EQ(rows[1][9], "graph 1");
  EXPECT_EQ(rows[3][9], "python 2");
  EXPECT_EQ(rows[4][9], "total");
}

TEST(MeasuredTest, PricesAreOfTheItemsOfABatch) {
  const std::vector<ModelResult> results{Profile()};
  const Prices prices{"EUR", {{"two", 3.6, 4}}};
  const auto json = nlohmann::json::parse(RenderProfiles(results, &prices, Format::kJson));
  const auto& row = json["models"][0]["profiles"][0]["prices"][0];
  EXPECT_DOUBLE_EQ(row["cost_per_million"], 0.5);  // 1 ms an item, by two copies, at 0.001 a second
  EXPECT_EQ(row["currency"], "EUR");
}

TEST(MeasuredTest, ABenchmarkComparesWithPlainAndNamesNoDifference) {
  const std::string line = MeasuredLine(Result());
  EXPECT_THAT(line, HasSubstr("eager 4.010 ms (no difference), inductor 2.000 ms (2.00x faster)"));
  ModelResult failed = Result();
  failed.capture = fakes::FailedCapture(Status::kFailedEager, "no such operator");
  const std::vector<ModelResult> results{Result(), failed};
  const auto rows = ParseCsv(RenderBench(results, Format::kCsv));
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].size(), 25u);
  EXPECT_EQ(rows[4][23], "failed_eager");
  EXPECT_EQ(MeasuredLine(failed), "");
}

TEST(MeasuredTest, ReasonsAreRankedByTimeAndSharedSavingsCountOnce) {
  std::vector<ModelResult> results{Profile(), Result("profile")};
  results[1].info.id = "org/other";
  const auto rows = nlohmann::json::parse(Render(CostlyReasonTable(results), Format::kJson));
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_DOUBLE_EQ(rows[0]["between_ms"], 0.5);
  EXPECT_DOUBLE_EQ(rows[0]["fusion_ms"], 0.3);
  EXPECT_DOUBLE_EQ(rows[0]["ms_downloads"], 800);
  EXPECT_EQ(rows[0]["profiled_models"], 2);
}

TEST(MeasuredTest, ASavingBelowTheNoiseIsNoDifference) {
  std::vector<ModelResult> results{Profile()};
  std::string& json = results[0].capture.mode_detail_json;
  const auto replace = [&](const std::string& from, const std::string& to) {
    json.replace(json.find(from), from.size(), to);
  };
  replace(R"("shared_with": 1)", R"("shared_with": 1, "backend": "eager")");
  replace(R"("median_s": 0.002})", R"("median_s": 0.002, "low_s": 0.0015, "high_s": 0.0025})");
  replace(R"({"status": "ok", "median_s": 0.001}})",
          R"({"status": "ok", "median_s": 0.0019, "low_s": 0.0015, "high_s": 0.0023}})");
  EXPECT_THAT(RenderProfiles(results, nullptr, Format::kText), testing::ContainsRegex("0.500 +no difference"));
  const auto costs = nlohmann::json::parse(Render(CostlyReasonTable(results), Format::kJson));
  EXPECT_DOUBLE_EQ(costs[0]["fusion_ms"], 0);
  EXPECT_DOUBLE_EQ(costs[0]["between_ms"], 0.5);
}

}  // namespace
}  // namespace breakwatch::report
