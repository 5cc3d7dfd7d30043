// Results that differ only by the call are shown together: the first call, the steady state, and call variants.
#include "contrast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "breakwatch/report/sweep.h"
#include "csv_reader.h"
#include "sample_sweep.h"

namespace breakwatch::report {
namespace {

using testing::HasSubstr;
using testing::Not;

ModelResult In(const std::string& mode, std::vector<BreakSite> sites, const std::string& id = "sample/net") {
  ModelResult result = Captured(id, std::move(sites));
  result.capture.mode = mode;
  return result;
}

std::vector<ModelResult> Unlike() {
  std::vector<ModelResult> results = {In("eval", {}), In("cold", {Site("Data-dependent branching", "GB9001", 3, 7)}),
                                      In("eval+minimal", {Site("Unsupported", "", 2, 9)}),
                                      In("eval+all", {Site("Unsupported", "", 1, 9)})};
  const auto inputs = [](const std::string& names) { return "{" + names + "}"; };
  const std::string ids = R"("input_ids":{"shape":[1,8],"dtype":"int64"})";
  results[0].capture.inputs_json = inputs(ids + R"(,"attention_mask":{"shape":[1,8],"dtype":"int64"})");
  results[3].capture.inputs_json = inputs(ids + R"(,"attention_mask":1,"position_ids":1,"token_type_ids":1)");
  return results;
}

TEST(ContrastTest, ShowListsTheResultsOfTheFirstCallAndEachVariant) {
  const auto all = Unlike();
  const std::string text = RenderModel(all[0], Format::kText, {}, all);
  EXPECT_THAT(text, HasSubstr("  mode          eval, the steady state after a first call\n"));
  EXPECT_THAT(text, HasSubstr("  differs       cold, the first call: 3 breaks at 1 site; "
                              "eval, the steady state after a first call: no breaks\n"));
  EXPECT_THAT(text,
              HasSubstr("  differs       no breaks with attention_mask, 2 breaks at 1 site without (eval+minimal)\n"));
  EXPECT_THAT(text, HasSubstr("  differs       no breaks without position_ids, token_type_ids, 1 break at 1 site with "
                              "(eval+all)\n"));
  const std::string markdown = RenderModel(all[0], Format::kMarkdown, {}, all);
  EXPECT_THAT(markdown, HasSubstr("cold, the first call: 3 breaks at 1 site; eval, the steady state"));
  const auto json = nlohmann::json::parse(RenderModel(all[0], Format::kJson, {}, all));
  ASSERT_EQ(json["differences"].size(), 3u);
  EXPECT_EQ(json["differences"][0]["other_mode"], "cold");
  EXPECT_EQ(json["mode"], "eval");
}

TEST(ContrastTest, AVariantIsShownBesideTheDefaultCallOnly) {
  const auto all = Unlike();
  const std::string text = RenderModel(all[2], Format::kText, {}, all);
  EXPECT_THAT(text,
              HasSubstr("  mode          eval+minimal, the steady state after a first call, called with the required "
                        "arguments only\n"));
  EXPECT_THAT(text, HasSubstr("2 breaks at 1 site without (eval+minimal)"));
  EXPECT_THAT(text, Not(HasSubstr("the first call: ")));
}

TEST(ContrastTest, NothingIsShownForResultsThatAgreeOrCannotBeCompared) {
  auto all = Unlike();
  all[1] = In("cold", {});
  all[2].info.sha = std::string(40, 'f');
  all[3].capture.status = Status::kSkippedUnsupportedLibrary;
  std::vector<const ModelResult*> results;
  for (const ModelResult& result : all) results.push_back(&result);
  EXPECT_TRUE(ContrastsOf(results).empty());
  all[1].capture.toolchain.name = "old", all[1].capture.status = Status::kGraphBreaks;
  EXPECT_TRUE(ContrastsOf(results).empty()) << "another toolchain is no other call";
}

TEST(ContrastTest, TheSameCountAtOtherSitesDiffers) {
  const std::vector<ModelResult> all = {In("eval", {Site("a", "GB1", 1, 7)}), In("cold", {Site("b", "GB2", 1, 9)})};
  EXPECT_THAT(RenderModel(all[1], Format::kText, {}, all), HasSubstr("; at other sites"));
}

TEST(ContrastTest, AFailureOfOneCallIsADifference) {
  std::vector<ModelResult> all = {In("eval", {}), In("cold", {})};
  all[1].capture.status = Status::kFailedCapture;
  EXPECT_THAT(RenderModel(all[0], Format::kText, {}, all), HasSubstr("cold, the first call: failed_capture"));
}

TEST(ContrastTest, OwnCodeIsAtItsFirstCallInEval) {
  ModelResult own = In("eval", {}, "python:nets:make");
  own.info.config_source = "python";
  EXPECT_THAT(ModeText(own), Not(HasSubstr("steady")));
}

TEST(ContrastTest, EveryRenderingOfASweepHasBoth) {
  const auto all = Unlike();
  Sweep sweep = SampleSweep();
  for (const Format format : {Format::kText, Format::kMarkdown}) {
    const std::string text = RenderSweep({.sweep = sweep, .results = all}, format);
    EXPECT_THAT(text, HasSubstr("Differences between modes and calls"));
    EXPECT_THAT(text, HasSubstr("cold, the first call: 3 breaks at 1 site"));
  }
  const auto json = nlohmann::json::parse(RenderSweep({.sweep = sweep, .results = all}, Format::kJson));
  ASSERT_EQ(json["differences"].size(), 3u);
  EXPECT_EQ(json["differences"][0]["breaks"], 0);
  EXPECT_EQ(json["differences"][0]["other_breaks"], 3);
  const auto rows = ParseCsv(RenderSweep({.sweep = sweep, .results = all}, Format::kCsv));
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].back(), "differs");
  EXPECT_THAT(rows[2].back(), HasSubstr("eval, the steady state after a first call: no breaks"));
}

TEST(ContrastTest, AResultOfAnEarlierSweepIsShown) {
  const auto all = Unlike();
  const auto own = std::span(all).first(1), others = std::span(all).subspan(1, 1);
  const auto json =
      nlohmann::json::parse(RenderSweep({.sweep = SampleSweep(), .results = own, .others = others}, Format::kJson));
  EXPECT_EQ(json["results"].size(), 1u);
  EXPECT_EQ(json["differences"].size(), 1u);
  const auto rows = ParseCsv(RenderSweep({.sweep = SampleSweep(), .results = own, .others = others}, Format::kCsv));
  EXPECT_THAT(rows[1].back(), HasSubstr("cold, the first call: 3 breaks at 1 site"));
}

}  // namespace
}  // namespace breakwatch::report
