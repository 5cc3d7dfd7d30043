#include "breakwatch/compare/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/compare/compare.h"
#include "sample_results.h"

namespace breakwatch::compare {
namespace {

using testing::HasSubstr;

ModelResult Full(const std::string& model, const Events& events) {
  ModelResult result = Captured(model, events);
  result.info.sha = "0123456789abcdef0123456789abcdef01234567";
  result.capture.frames_fallback = 1, result.capture.recompiles = 2, result.capture.ops_captured = 300;
  result.capture.params = 1000, result.capture.inputs_digest = "d1";
  for (BreakSite& site : result.capture.sites) site.gb_id = "GB0170";
  return result;
}

std::vector<ModelResult> Parsed(const std::string& text) {
  auto parsed = ParseBaseline("b.tsv", text);
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : std::vector<ModelResult>();
}

std::string Wrong(const std::string& text) {
  const auto parsed = ParseBaseline("b.tsv", text);
  return parsed ? "" : parsed.error().message;
}

TEST(BaselineTest, WhatWasWrittenComparesAsTheSame) {
  const std::vector<ModelResult> results = {Full("org/a", {{"x", 3}, {"y", 1}}), Full("org/b", {}),
                                            Failed("org/c", Status::kTimeout, "late")};
  const auto read = Parsed(BaselineText(results));
  ASSERT_EQ(read.size(), 3u);
  const Comparison c = Compare({"file", read}, {"sweep", results});
  EXPECT_EQ(c.verdicts, (std::map<Verdict, std::int64_t>{{Verdict::kSame, 3}}));
  for (const ModelComparison& m : c.models) EXPECT_TRUE(m.differences.empty()) << m.model;
}

TEST(BaselineTest, TheSameResultsGiveTheSameBytesInAnyOrder) {
  const std::vector<ModelResult> a = {Full("b", {}), Full("a", {{"x", 1}})}, b = {a[1], a[0]};
  EXPECT_EQ(BaselineText(a), BaselineText(b));
  EXPECT_EQ(BaselineText(Parsed(BaselineText(a))), BaselineText(a));
}

TEST(BaselineTest, NamesWithTabsAndBackslashesSurvive) {
  const std::vector<ModelResult> results = {Full("script:a\tb\\n.py", {})};
  EXPECT_EQ(Parsed(BaselineText(results))[0].info.id, "script:a\tb\\n.py");
}

TEST(BaselineTest, AnyNameSurvives) {
  for (const std::string id : {"script:a\rb.py", "#org/a", "\x1b[31mred", "a\\x41", "a\\xzz", "a,b:c"}) {
    ModelResult result = Full(id, {{"x,1:\t\\", 3}, {"y", 1}});
    for (BreakSite& site : result.capture.sites) site.gb_id = "GB:1,2\n";
    const std::string text = BaselineText(std::vector<ModelResult>{result});
    EXPECT_EQ(text.find_first_of("\r\x1b"), std::string::npos) << id;
    const auto read = Parsed(text);
    ASSERT_EQ(read.size(), 1u) << id;
    EXPECT_EQ(read[0].info.id, id);
    const ModelComparison m = CompareModel(read[0], result);
    EXPECT_TRUE(m.new_sites.empty() && m.gone_sites.empty() && m.changed_sites.empty()) << text;
    EXPECT_EQ(read[0].capture.sites[0].gb_id, "GB:1,2\n");
  }
}

TEST(BaselineTest, LinesOfOtherModesStay) {
  ModelResult train = Full("a", {});
  train.capture.mode = "train";
  const std::vector<ModelResult> old = {Full("a", {{"x", 1}}), train}, sweep = {Full("a", {})};
  const auto merged = UpdateBaseline(old, sweep, /*keep_others=*/false);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].capture.status, Status::kFullGraph);
  EXPECT_EQ(merged[1].capture.mode, "train");
}

TEST(BaselineTest, ResultsThatWereNotAttemptedKeepTheirOldLine) {
  const std::vector<ModelResult> old = {Full("a", {{"x", 1}}), Full("left", {})},
                                 sweep = {Failed("a", Status::kNotAttempted, "stopped")};
  auto lost = sweep;
  lost[0].capture.mode = "eval";
  const auto merged = UpdateBaseline(old, lost, /*keep_others=*/false);
  ASSERT_EQ(merged.size(), 1u) << "the sweep did not contain the other model";
  EXPECT_EQ(merged[0].capture.status, Status::kGraphBreaks);
  EXPECT_EQ(UpdateBaseline(old, lost, /*keep_others=*/true).size(), 2u);
}

TEST(BaselineTest, ProblemsAreNamedWithFileAndLine) {
  const std::string good = BaselineText(std::vector<ModelResult>{Full("a", {{"x", 1}})});
  EXPECT_EQ(Wrong("model\n"), "b.tsv:1: expected \"# breakwatch baseline 1\"");
  EXPECT_THAT(Wrong(good + "a\teval\n"), HasSubstr("b.tsv:5: expected 14 fields, found 2"));
  EXPECT_THAT(Wrong(good + good.substr(good.rfind("a\teval"))), HasSubstr("b.tsv:5: a second line of a in mode eval"));
  std::string bad = good;
  bad.replace(bad.find("graph_breaks"), 12, "graph_broken");
  EXPECT_THAT(Wrong(bad), HasSubstr("unknown status \"graph_broken\""));
  bad = good;
  bad.replace(bad.find("x:1:"), 4, "x:y:");
  EXPECT_THAT(Wrong(bad), HasSubstr("SITE_ID:EVENTS:GB_ID"));
  EXPECT_THAT(Wrong("# breakwatch baseline 1\nname\n"), HasSubstr("expected the column names"));
}

TEST(BaselineTest, AFileThatWasCutOffIsRefusedAtAnyByte) {
  const std::string good = BaselineText(std::vector<ModelResult>{Full("a", {{"x", 12}})});
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_NE(Wrong(good.substr(0, size)), "") << size;
  EXPECT_THAT(Wrong(good.substr(0, good.size() - 1)), HasSubstr("b.tsv:4: the last line is incomplete"));
  EXPECT_THAT(Wrong(BaselineText({})), HasSubstr("no results"));
}

TEST(BaselineTest, LineEndsAndByteOrderMarkOfAnotherEditorAreRead) {
  const std::string good = BaselineText(std::vector<ModelResult>{Full("a", {{"x", 1}})});
  std::string other = "\xef\xbb\xbf";
  for (const char c : good) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(BaselineText(Parsed(other)), good);
}

}  // namespace
}  // namespace breakwatch::compare
