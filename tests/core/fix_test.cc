#include "breakwatch/core/fix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace breakwatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kTried = R"({
  "fix": {"names": []}, "before": {"breaks": 3, "sites": 2, "graphs": 4, "ops": 90},
  "attempts": [
    {"names": ["capture_scalar_outputs"], "status": "ok", "detail": "", "outcome": "better",
     "after": {"breaks": 1, "sites": 1, "graphs": 2, "ops": 92}, "python": ["import torch._dynamo"], "max_abs": 0.0,
     "seconds": 1.5},
    {"names": ["capture_scalar_outputs", "use_cache"], "status": "ok", "outcome": "whole",
     "after": {"breaks": 0, "sites": 0, "graphs": 1, "ops": 93}, "python": ["a", "b"], "caution": "no cache"},
    {"names": ["hangs"], "status": "timeout", "detail": "after 120 s", "outcome": "whole", "after": {"breaks": 0}}],
  "best": 1, "whole": true,
  "left": [{"site_id": "s", "reason": "Data-dependent branching", "gb_id": "GB0170", "file": "a.py", "line": 7,
            "function": "forward", "stack": ["a.py:3 in forward", "a.py:7 in step"], "owner": "library",
            "explanation": "why", "hints": ["try this"]}],
  "not_applicable": [{"name": "experts_eager", "why": "no experts"}], "stopped": "budget"})";

TEST(FixTest, EqualOptionsGiveEqualBytes) {
  FixOptions options;
  options.names = {"use_cache"};
  EXPECT_EQ(FixJson(options), R"({"attempt_s":120.0,"budget_s":600.0,"combine":true,"names":["use_cache"]})");
  const auto read = FixOptionsFromJson(FixJson(options));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, options);
}

TEST(FixTest, RefusesOptionsThatCannotBeTried) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"names":["a","a"]})", "different names"},   {R"-({"names":["$(rm)"]})-", "different names"},
      {R"({"names":"use_cache"})", "a list of fixes"}, {R"({"budget_s":0})", "budget_s: expected a number"},
      {R"({"attempt_s":1e9})", "attempt_s: expected"}, {R"({"combine":1})", "true or false"},
      {R"({"tries":3})", "unknown field \"tries\""},   {R"([])", "an object"},
  };
  for (const auto& [text, expected] : wrong) {
    const auto read = FixOptionsFromJson(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kUsage);
    EXPECT_THAT(read.error().message, HasSubstr(expected)) << text;
  }
}

TEST(FixTest, ReadsWhatAWorkerTried) {
  const auto tried = ReadTriedFixes(kTried);
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_EQ(tried->before.breaks, 3);
  ASSERT_EQ(tried->attempts.size(), 3u);
  EXPECT_EQ(tried->attempts[1].Name(), "capture_scalar_outputs + use_cache");
  ASSERT_NE(tried->Best(), nullptr);
  EXPECT_EQ(tried->Best()->outcome, "whole");
  EXPECT_EQ(tried->Best()->after->graphs, 1);
  EXPECT_THAT(tried->left.at(0).site.stack, ElementsAre("a.py:3 in forward", "a.py:7 in step"));
  EXPECT_EQ(tried->left[0].owner, "library");
  EXPECT_EQ(tried->not_applicable.at(0).second, "no experts");
  EXPECT_EQ(tried->stopped, "budget");
}

TEST(FixTest, AnAttemptThatFailedHasNeitherNumbersNorAnOutcome) {
  const auto tried = ReadTriedFixes(kTried);
  ASSERT_TRUE(tried);
  EXPECT_FALSE(tried->attempts[2].after);
  EXPECT_EQ(tried->attempts[2].outcome, "");
  EXPECT_FALSE(tried->attempts[2].Helps());
}

TEST(FixTest, NothingIsRecommendedWithoutABestAttempt) {
  for (const char* best : {"-1", "7", "null", "\"1\""}) {
    const auto tried =
        ReadTriedFixes(R"({"attempts": [{"names": ["a"], "status": "ok"}], "best": )" + std::string(best) + "}");
    ASSERT_TRUE(tried) << best;
    EXPECT_EQ(tried->Best(), nullptr) << best;
  }
}

TEST(FixTest, OtherDocumentsAreRefused) {
  for (const char* text : {"", "[]", "{}", R"({"attempts": 3})", R"({"profiles": []})"}) {
    EXPECT_FALSE(ReadTriedFixes(text)) << text;
  }
}

}  // namespace
}  // namespace breakwatch
