#include "breakwatch/core/repro.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace breakwatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReproTest, EqualOptionsGiveEqualBytes) {
  const ReproOptions options{.site = "0123abcd", .minimal = true, .budget_s = 60};
  EXPECT_EQ(ReproJson(options), R"({"budget_s":60.0,"minimal":true,"site":"0123abcd"})");
  const auto read = ReproOptionsFromJson(ReproJson(options));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, options);
}

TEST(ReproTest, RefusesOptionsThatNoWorkerTakes) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"site":"0123abc"})", "first 8 digits"},
      {R"({"site":"../../etc"})", "first 8 digits"},
      {R"({"site":"0123ABCD"})", "first 8 digits"},
      {R"({"site":7})", "the id of a site"},
      {R"({"minimal":1})", "true or false"},
      {R"({"budget_s":0})", "budget_s: expected a number"},
      {R"({"budget_s":1e9})", "budget_s: expected"},
      {R"({"keep":true})", "unknown field \"keep\""},
      {"[]", "an object"},
      {"{", ""},
  };
  for (const auto& [text, expected] : wrong) {
    const auto read = ReproOptionsFromJson(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kUsage);
    EXPECT_THAT(read.error().message, HasSubstr(expected)) << text;
  }
}

TEST(ReproTest, ReadsWhatAWorkerWrote) {
  const auto repro = ReadRepro(R"({"repro": {"script": "print()\n", "why_not": "", "differs": "", "site_id": "0123abcd",
    "minimal": true, "why_full": "", "reduced": ["one layer", 3, "layer.0 alone"]}})");
  ASSERT_TRUE(repro) << repro.error().message;
  EXPECT_EQ(repro->script, "print()\n");
  EXPECT_EQ(repro->site_id, "0123abcd");
  EXPECT_TRUE(repro->minimal);
  EXPECT_THAT(repro->reduced, ElementsAre("one layer", "layer.0 alone"));
}

TEST(ReproTest, ReadsAnOlderWorkerAndRefusesWhatIsNoObject) {
  const auto repro = ReadRepro(R"({"repro": {"script": "x", "minimal": "yes", "reduced": {}}})");
  ASSERT_TRUE(repro);
  EXPECT_FALSE(repro->minimal);
  EXPECT_TRUE(repro->reduced.empty() && repro->site_id.empty());
  for (const char* text : {"", "[]", "{}", R"({"fix": {}})"}) EXPECT_FALSE(ReadRepro(text)) << text;
  const auto strange = ReadRepro(R"({"repro": [1, 2]})");
  EXPECT_TRUE(strange && strange->script.empty());
}

}  // namespace
}  // namespace breakwatch
