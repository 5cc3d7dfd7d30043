#include "breakwatch/report/progress.h"

#include <gtest/gtest.h>

#include "escape.h"
#include "fakes/fake_clock.h"
#include "sample_sweep.h"

namespace breakwatch::report {
namespace {

TEST(ProgressBarTest, ShowsShareCountsTimeAndWhatIsLeft) {
  const Progress progress{.done = 3,
                          .total = 12,
                          .before = 0,
                          .elapsed_s = 30,
                          .statuses = {{"full_graph", 2}, {"graph_breaks", 1}},
                          .newest = "sample/whole"};
  EXPECT_EQ(ProgressBar(progress, 200),
            "[#####...............] 3/12  2 full_graph, 1 graph_breaks  0:30, about 1:30 left  sample/whole");
}

TEST(ProgressBarTest, DoesNotCountWhatAnEarlierRunDidAsSpeed) {
  Progress progress{.done = 10, .total = 12, .before = 9, .elapsed_s = 5};
  EXPECT_NE(ProgressBar(progress, 200).find("about 0:10 left"), std::string::npos);
  progress.before = 10;
  EXPECT_EQ(ProgressBar(progress, 200).find("left"), std::string::npos);
}

TEST(ProgressBarTest, FitsAnyWidthAndAnyNumbers) {
  Progress progress{
      .done = 5, .total = 0, .before = 9, .elapsed_s = 1e300, .statuses = {{"timeout", 5}}, .newest = "模型\x1b[2J"};
  for (std::size_t width = 0; width < 120; ++width) {
    const std::string bar = ProgressBar(progress, width);
    EXPECT_LE(DisplayWidth(bar), width);
    EXPECT_EQ(bar.find('\x1b'), std::string::npos);
  }
}

TEST(ProgressBarTest, ShortensItsBarOnANarrowTerminal) {
  const Progress progress{.done = 3, .total = 12, .before = 0, .elapsed_s = 30, .statuses = {{"full_graph", 3}}};
  EXPECT_EQ(ProgressBar(progress, 39), "[##......] 3/12  3 full_graph  0:30, a…");
  EXPECT_EQ(ProgressBar(progress, 19), "3/12  3 full_graph…");
}

TEST(ResultLineTest, ShowsHowAModelEnded) {
  const auto results = SampleResults();
  EXPECT_EQ(ResultLine(results[0], 1, 7), "[1/7] full_graph  sample/whole  1 graph, 2.5 s");
  EXPECT_EQ(ResultLine(results[1], 2, 7), "[2/7] graph_breaks  sample/broken  4 breaks at 2 sites, 3 graphs, 2.5 s");
  EXPECT_EQ(ResultLine(results[2], 3, 7),
            "[3/7] graph_breaks  sample/one-reason  1 break at 1 site, 2 graphs, as sample/broken");
  EXPECT_EQ(ResultLine(results[3], 4, 7), "[4/7] full_graph  sample/known  1 graph, known");
  EXPECT_EQ(ResultLine(results[5], 6, 7), "[6/7] timeout  sample/slow  capture took longer than 300 s");
}

// The output of a printer.
class ProgressPrinterTest : public testing::Test {
 protected:
  ProgressPrinterTest() : file_(std::tmpfile()) {}
  ~ProgressPrinterTest() override { std::fclose(file_); }
  std::string Written() {
    std::fflush(file_);
    std::string text(static_cast<std::size_t>(std::ftell(file_)), '\0');
    std::rewind(file_);
    EXPECT_EQ(std::fread(text.data(), 1, text.size(), file_), text.size());
    return text;
  }

  std::FILE* file_;
  fakes::FakeClock clock_;
};

TEST_F(ProgressPrinterTest, WritesALinePerModelWhereThereIsNoTerminal) {
  ProgressPrinter printer(file_, clock_, false);
  const auto results = SampleResults();
  printer.OnListing(1, 2);
  printer.OnListing(2, 2);
  printer.OnPlan(SamplePlan(), 0);
  printer.OnStarted("sample/whole");
  printer.OnResult(results[0], 1, 7);
  printer.OnWarning("the Hub says\nx");
  printer.OnFinished(SampleSweep());
  EXPECT_EQ(Written(),
            "listed 2 models\n"
            "sweep 20260921T141320Z-abc123: 7 models, 4 to capture, 1 to reuse, 1 to share, 1 to skip\n"
            "[1/7] full_graph  sample/whole  1 graph, 2.5 s\n"
            "warning: the Hub says x\n"
            "sweep 20260921T141320Z-abc123 finished after 1:15\n");
}

TEST_F(ProgressPrinterTest, RedrawsABarOnATerminalAndClearsItBeforeLines) {
  ProgressPrinter printer(file_, clock_, true, 100);
  const auto results = SampleResults();
  printer.OnPlan(SamplePlan(), 0);
  printer.OnResult(results[0], 1, 2);
  printer.OnResult(results[1], 2, 2);
  printer.OnFinished(SampleSweep());
  const std::string text = Written();
  EXPECT_NE(text.find("[##########..........] 1/2"), std::string::npos);
  EXPECT_NE(text.find("\r\x1b[K[####################] 2/2"), std::string::npos);
  EXPECT_NE(text.find("\r\x1b[Ksweep 20260921T141320Z-abc123 finished"), std::string::npos);
}

TEST_F(ProgressPrinterTest, DrawsAtMostTenTimesASecond) {
  ProgressPrinter printer(file_, clock_, true, 100);
  for (int i = 0; i < 1000; ++i) printer.OnStarted("sample/whole");
  const std::string text = Written();
  EXPECT_EQ(text.find("\r"), std::string::npos);  // one drawing: the clock stood still
}

TEST_F(ProgressPrinterTest, OnlyClearsTheBarWhenASweepFails) {
  ProgressPrinter printer(file_, clock_, true, 100);
  printer.OnStarted("sample/whole");
  printer.OnFailed(Error{ErrorCode::kUnavailable, "the Hub is away"});
  const std::string text = Written();
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
  EXPECT_EQ(text.find("away"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::report
