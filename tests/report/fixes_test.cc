#include "breakwatch/report/fixes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "csv_reader.h"
#include "fakes/sample_fixes.h"

namespace breakwatch::report {
namespace {

using testing::HasSubstr;
using testing::Not;

ModelResult Result(CaptureResult capture = fakes::TriedCapture()) {
  ModelResult result;
  result.info.id = "org/name";
  result.info.sha = std::string(40, 'a');
  result.capture = std::move(capture);
  return result;
}

TEST(FixesTest, TheTextHasTheAttemptsThePythonOfTheBestAndWhatIsLeft) {
  const std::string text = RenderFixes(std::vector{Result()}, Format::kText);
  EXPECT_THAT(text, HasSubstr("without a fix: 3 breaks at 2 sites, 4 graphs"));
  EXPECT_THAT(text, testing::ContainsRegex("capture_scalar_outputs +better +3 -> 1 +2 -> 1 +4 -> 2 +90 -> 92"));
  EXPECT_THAT(text, testing::ContainsRegex("attention_eager +crashed"));
  EXPECT_THAT(text, HasSubstr("Write this: capture_scalar_outputs + use_cache, 3 breaks at 2 sites, 4 graphs -> 0 "
                              "breaks, 1 graph"));
  EXPECT_THAT(text, HasSubstr("    torch._dynamo.config.capture_scalar_outputs = True\n"));
  EXPECT_THAT(text, HasSubstr("caution: no cache"));
  EXPECT_THAT(text, HasSubstr("Sites that no fix removes"));
  EXPECT_THAT(text, HasSubstr("a.py:7 in forward"));
  EXPECT_THAT(text, HasSubstr("try this"));
}

TEST(FixesTest, NothingOfAWorkerReachesATerminalOrMarkdownAsItIs) {
  const std::vector results{Result()};
  EXPECT_THAT(RenderFixes(results, Format::kText), Not(HasSubstr("\x1b")));
  const std::string markdown = RenderFixes(results, Format::kMarkdown);
  EXPECT_THAT(markdown, Not(HasSubstr("\x1b")));
  EXPECT_THAT(markdown, HasSubstr("\\|"));
}

TEST(FixesTest, AModelThatNothingHelpsIsToldSo) {
  const auto capture = fakes::TriedCapture(
      R"({"before": {"breaks": 1, "sites": 1, "graphs": 2}, "attempts": [{"names": ["use_cache"], "status": "ok",
          "outcome": "same", "after": {"breaks": 1, "sites": 1, "graphs": 2}}], "best": -1})");
  const std::vector results{Result(capture)};
  EXPECT_THAT(RenderFixes(results, Format::kText), HasSubstr("No fix removes a break"));
  EXPECT_EQ(FixesLine(results[0]), "1 attempt, none helped");
}

TEST(FixesTest, AModelWithoutBreaksHasNothingToFix) {
  const auto capture = fakes::TriedCapture(R"({"before": {"breaks": 0, "graphs": 1}, "attempts": [], "best": -1})");
  EXPECT_THAT(RenderFixes(std::vector{Result(capture)}, Format::kText), HasSubstr("one graph already"));
}

TEST(FixesTest, AModelThatCouldNotBeCapturedHasItsStatus) {
  CaptureResult failed;
  failed.mode = "fix", failed.status = Status::kFailedCreate, failed.detail = "no class";
  const std::vector results{Result(failed)};
  EXPECT_THAT(RenderFixes(results, Format::kText), HasSubstr("failed_create: no class"));
  EXPECT_THAT(RenderFixes(results, Format::kCsv), HasSubstr("org/name"));
  EXPECT_EQ(FixesLine(results[0]), "");
}

TEST(FixesTest, ResultsOfOtherModesHaveNoFixes) {
  CaptureResult eval = fakes::TriedCapture();
  eval.mode = "eval";
  EXPECT_EQ(FixesLine(Result(eval)), "");
  EXPECT_EQ(FixesText(Result(eval), Format::kText), "");
}

TEST(FixesTest, JsonHasWhatTheWorkerSent) {
  const auto document = nlohmann::json::parse(RenderFixes(std::vector{Result()}, Format::kJson));
  const auto& model = document.at("models").at(0);
  EXPECT_EQ(model.at("outcome"), "whole");
  EXPECT_EQ(model.at("best"), nlohmann::json({"capture_scalar_outputs", "use_cache"}));
  EXPECT_EQ(model.at("fixes").at("attempts").size(), 3u);
}

TEST(FixesTest, CsvHasARowPerAttempt) {
  const auto rows = ParseCsv(RenderFixes(std::vector{Result()}, Format::kCsv));
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0][0], "model");
  EXPECT_EQ(rows[1][2], "capture_scalar_outputs");
  EXPECT_EQ(rows[1][6], "1");
  EXPECT_EQ(rows[2][4], "crashed");
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
}

TEST(FixesTest, TheLineNamesTheBestFix) {
  EXPECT_EQ(FixesLine(Result()),
            "whole with capture_scalar_outputs + use_cache (3 breaks at 2 sites, 4 graphs -> 0 breaks, 1 graph)");
}

TEST(FixesTest, TheSummaryHasARowPerModel) {
  const Table table = FixSummaryTable(std::vector{Result()});
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(std::get<std::string>(table.rows[0][1]), "whole");
  EXPECT_EQ(std::get<std::int64_t>(table.rows[0][4]), 0);
}

}  // namespace
}  // namespace breakwatch::report
