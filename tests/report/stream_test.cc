#include "breakwatch/report/stream.h"

#include <gtest/gtest.h>

#include "breakwatch/report/sweep.h"
#include "sample_sweep.h"

namespace breakwatch::report {
namespace {

std::string Streamed(const Sweep& sweep, const std::vector<ModelResult>& results, Format format,
                     std::string_view filter = {}) {
  std::string text;
  const auto streamed = StreamSweep({.sweep = sweep, .each = EachOf(results), .filter = filter}, format, {},
                                    [&](std::string_view piece) { text += piece; });
  EXPECT_TRUE(streamed) << streamed.error().message;
  return text;
}

TEST(StreamTest, IsTheTextOfTheWholeReportInEveryFormatThatCanStream) {
  std::vector<ModelResult> of_train = SampleResults();
  for (ModelResult& result : of_train) result.capture.mode = "train";
  const Sweep sweep = SampleSweep();
  for (const auto& results : {SampleResults(), std::vector<ModelResult>(), of_train}) {
    for (const Format format : {Format::kText, Format::kJson, Format::kMarkdown, Format::kCsv}) {
      ASSERT_TRUE(CanStream(format, sweep));
      EXPECT_EQ(Streamed(sweep, results, format), RenderSweep({.sweep = sweep, .results = results}, format))
          << static_cast<int>(format) << " with " << results.size();
    }
  }
}

TEST(StreamTest, NamesTheFilterThatSelectedTheResults) {
  std::vector<ModelResult> selected = SampleResults();
  selected.resize(2);
  const Sweep sweep = SampleSweep();
  for (const Format format : {Format::kText, Format::kJson, Format::kMarkdown, Format::kCsv}) {
    const SweepReport whole{.sweep = sweep, .results = selected, .filter = "--filter org/*"};
    EXPECT_EQ(Streamed(sweep, selected, format, "--filter org/*"), RenderSweep(whole, format))
        << static_cast<int>(format);
  }
}

TEST(StreamTest, NeedsTheWholeSweepIfModesAreCompared) {
  Sweep sweep = SampleSweep();
  sweep.modes = {{"eval", {}}, {"train", {}}};
  EXPECT_FALSE(CanStream(Format::kText, sweep));
  sweep.modes = {{"eval", {}}, {"", {}}};
  EXPECT_TRUE(CanStream(Format::kText, sweep)) << "models that were skipped have no mode";
  EXPECT_FALSE(CanStream(Format::kHtml, SampleSweep()));
  Sweep running = SampleSweep();
  running.state = SweepState::kRunning;
  EXPECT_FALSE(CanStream(Format::kText, running)) << "its modes are not known yet";
}

TEST(StreamTest, MakesTheTableOfReasons) {
  const auto results = SampleResults();
  const auto table = ReasonTable(EachOf(results), ReasonOrder::kLeverage, 1);
  ASSERT_TRUE(table);
  EXPECT_EQ(Render(*table, Format::kCsv), Render(ReasonTable(results, ReasonOrder::kLeverage, 1), Format::kCsv));
}

TEST(StreamTest, EndsWithTheErrorOfItsSource) {
  const Sweep sweep = SampleSweep();
  const EachResult broken = [](const UseResult&) -> Result<void> { return Error{ErrorCode::kStore, "disk lost"}; };
  for (const Format format : {Format::kText, Format::kJson}) {
    const auto streamed = StreamSweep({.sweep = sweep, .each = broken}, format, {}, [](std::string_view) {});
    ASSERT_FALSE(streamed);
    EXPECT_EQ(streamed.error().message, "disk lost");
  }
}

}  // namespace
}  // namespace breakwatch::report
