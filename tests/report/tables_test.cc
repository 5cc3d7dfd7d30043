#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "breakwatch/core/mode.h"
#include "breakwatch/report/sweep.h"
#include "sample_sweep.h"

namespace breakwatch::report {
namespace {

nlohmann::json Rows(const Table& table) { return nlohmann::json::parse(Render(table, Format::kJson)); }

TEST(ReasonTableTest, CountsEventsSitesModelsAndLeverage) {
  const auto rows = Rows(ReasonTable(SampleResults()));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["reason"], "Data-dependent branching");
  EXPECT_EQ(rows[0]["events"], 4);
  EXPECT_EQ(rows[0]["sites"], 2);
  EXPECT_EQ(rows[0]["models"], 2);
  EXPECT_EQ(rows[0]["leverage"], 1);  // only sample/one-reason would have no breaks
  EXPECT_EQ(rows[0]["families"], "nlp, vision");
  EXPECT_EQ(rows[0]["example_model"], "sample/broken");
  EXPECT_EQ(rows[0]["example_site"], "sample/models/alpha.py:7");
  EXPECT_NE(rows[0]["url"].get<std::string>().find("gb9001.html"), std::string::npos);
  EXPECT_EQ(rows[1]["leverage"], 0);
  EXPECT_TRUE(rows[1]["url"].is_null());
}

TEST(ReasonTableTest, SaysWhichFixRemovedAReasonAndHowManyModelsItMadeWhole) {
  const auto tried = [](ModelResult result, const std::string& outcome, const std::string& removed) {
    result.capture.mode = kFixMode;
    result.capture.mode_detail_json =
        R"({"attempts": [{"names": ["scalars"], "kinds": ["setting"], "status": "ok", "outcome": ")" + outcome +
        R"(", "removed": [)" + removed + R"(]}], "best": 0})";
    return result;
  };
  const ModelResult a = Captured("a", {Site("branch", "GB1", 2, 1)});
  ModelResult b = Captured("b", {Site("branch", "GB1", 1, 1), Site("print", "", 1, 2)});
  ModelResult c = Captured("c", {Site("branch", "GB1", 1, 1)});
  const std::string id = '"' + a.capture.sites.front().site_id + '"';
  const std::vector results{a, b, c};
  const std::vector fixes{tried(a, "whole", id), tried(b, "better", id)};
  const auto rows = Rows(ReasonTable(results, ReasonOrder::kLeverage, 0, fixes));
  EXPECT_EQ(rows[0]["reason"], "branch");
  EXPECT_EQ(rows[0]["fixability"], "setting");
  EXPECT_EQ(rows[0]["fix"], "scalars");
  EXPECT_EQ(rows[0]["fixed_models"], 2);
  EXPECT_EQ(rows[0]["tried_models"], 2) << "nothing was tried on c";
  EXPECT_EQ(rows[0]["leverage"], 2);
  EXPECT_EQ(rows[0]["made_whole"], 1);
  EXPECT_EQ(rows[0]["leverage_downloads"], 2 * a.info.downloads.value_or(0));
  EXPECT_EQ(rows[0]["made_whole_downloads"], a.info.downloads.value_or(0));
  EXPECT_EQ(rows[1]["fixability"], "source change");
  EXPECT_TRUE(rows[1]["fix"].is_null());
  EXPECT_EQ(Rows(ReasonTable(results))[0]["fixability"], "untested");
}

TEST(ReasonTableTest, OrdersAsRequestedAndStopsAtTheLimit) {
  std::vector<ModelResult> results;
  results.push_back(Captured("a", {Site("many events", "GB1", 50, 1)}));
  results.push_back(Captured(
      "b", {Site("many sites", "GB2", 1, 1), Site("many sites", "GB2", 1, 2), Site("many sites", "GB2", 1, 3)}));
  results.push_back(Captured("c", {Site("many models", "GB3", 1, 1), Site("other", "", 1, 2)}));
  results.push_back(Captured("d", {Site("many models", "GB3", 1, 1), Site("other", "", 1, 2)}));
  EXPECT_EQ(Rows(ReasonTable(results, ReasonOrder::kEvents))[0]["reason"], "many events");
  EXPECT_EQ(Rows(ReasonTable(results, ReasonOrder::kSites))[0]["reason"], "many sites");
  EXPECT_EQ(Rows(ReasonTable(results, ReasonOrder::kModels, 1)).size(), 1u);
  EXPECT_EQ(Rows(ReasonTable(results, ReasonOrder::kModels))[0]["models"], 2);
  EXPECT_EQ(Rows(ReasonTable(results, ReasonOrder::kLeverage))[0]["reason"], "many events");
}

TEST(ReasonTableTest, LeavesOutSitesOfModelsWithoutNumbers) {
  ModelResult crashed = Captured("a", {Site("x", "GB1", 1, 1)});
  crashed.capture.status = Status::kCrashed;
  EXPECT_TRUE(ReasonTable(std::vector{crashed}).rows.empty());
}

TEST(FailureTableTest, GroupsByStatusAndDetail) {
  auto results = SampleResults();
  results.push_back(Ended("sample/slow-too", Status::kTimeout, "capture took longer than 300 s"));
  const auto rows = Rows(FailureTable(results));
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["status"], "timeout");
  EXPECT_EQ(rows[0]["models"], 2);
  EXPECT_EQ(rows[0]["example_model"], "sample/slow");
  EXPECT_TRUE(rows[0]["suggestion"].is_null());
}

TEST(FailureTableTest, HasSuggestionsAndNoColumnForThemWithoutAny) {
  auto failed = Ended("sample/slow", Status::kTimeout, "capture passed its limit");
  EXPECT_EQ(Render(FailureTable(std::vector{failed}), Format::kText).find("SUGGESTION"), std::string::npos);
  failed.capture.suggestion = "raise capture.capture_s";
  const auto table = FailureTable(std::vector{failed});
  EXPECT_EQ(Rows(table)[0]["suggestion"], "raise capture.capture_s");
  EXPECT_NE(Render(table, Format::kText).find("SUGGESTION"), std::string::npos);
  EXPECT_NE(RenderModel(failed, Format::kText).find("suggestion    raise capture.capture_s"), std::string::npos);
}

TEST(ResultTableTest, LeavesAbsentNumbersEmpty) {
  const auto rows = Rows(ResultTable(SampleResults()));
  EXPECT_EQ(rows[0]["breaks"], 0);
  EXPECT_TRUE(rows[5]["breaks"].is_null());
  EXPECT_TRUE(rows[5]["capture_s"].is_null());
  EXPECT_TRUE(rows[6]["revision"].is_null());
}

TEST(SummaryLineTest, NamesEveryStatusInTheOrderOfTheDocumentation) {
  EXPECT_EQ(SummaryLine(SampleSweep()),
            "7 models: 2 full_graph, 2 graph_breaks, 1 failed_eager, 1 timeout, 1 skipped_gated; 4 of 7 have numbers");
}

TEST(SummaryLineTest, ReportsAnIncompleteSweep) {
  Sweep sweep = SampleSweep();
  sweep.complete = false;
  EXPECT_TRUE(SummaryLine(sweep).ends_with("; incomplete"));
  EXPECT_EQ(SummaryLine(Sweep{}), "0 models; 0 of 0 have numbers; incomplete");
}

TEST(SweepsTableTest, NamesTheToolchainAndTheModesOfEachSweep) {
  Sweep other = SampleSweep();
  other.toolchain.name = "older", other.modes = {{"train", {{"full_graph", 1}}}, {"eval", {{"full_graph", 2}}}};
  const auto rows = Rows(SweepsTable(std::vector{SampleSweep(), other}));
  EXPECT_EQ(rows[0]["toolchain"], "default");
  EXPECT_TRUE(rows[0]["modes"].is_null()) << "no result yet";
  EXPECT_EQ(rows[1]["toolchain"], "older");
  EXPECT_EQ(rows[1]["modes"], "eval, train");
}

TEST(SweepsTableTest, CountsByKindOfEnd) {
  const auto rows = Rows(SweepsTable(std::vector{SampleSweep(), Sweep{}}));
  EXPECT_EQ(rows[0]["full_graph"], 2);
  EXPECT_EQ(rows[0]["graph_breaks"], 2);
  EXPECT_EQ(rows[0]["failed"], 2);
  EXPECT_EQ(rows[0]["skipped"], 1);
  EXPECT_EQ(rows[0]["duration_s"], 75.0);
  EXPECT_TRUE(rows[1]["duration_s"].is_null());
}

}  // namespace
}  // namespace breakwatch::report
