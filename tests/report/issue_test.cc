#include "breakwatch/report/issue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "sample_sweep.h"

namespace breakwatch::report {
namespace {

using testing::HasSubstr;
using testing::Not;

class IssueTest : public ::testing::Test {
 protected:
  IssueTest() {
    results_ = {Captured("org/few", {Site("branch", "GB9001", 3, 7)}),
                Captured("org/many", {Site("branch", "GB9001", 1, 7), Site("a ``` `print`", "", 1, 9)}),
                Captured("org/whole", {})};
    results_[0].info.downloads = 10, results_[1].info.downloads = 1000;
  }

  Result<IssueDraft> Draft(const std::string& target, Tracker tracker = Tracker::kAuto) const {
    return DraftIssue(Evidence(), target, tracker);
  }
  SiteEvidence Evidence() const {
    return {.results = results_, .other_toolchains = {}, .tried = tried_, .sweep_id = {}};
  }
  std::string Text(const std::string& target, Tracker tracker = Tracker::kAuto, const std::string& repro = {},
                   const FirstSeen& first = {}, Format format = Format::kMarkdown) const {
    const auto draft = Draft(target, tracker);
    return draft ? RenderIssue(*draft, Evidence(), first, repro, source_, format) : draft.error().message;
  }

  ReproSource source_;
  std::vector<ModelResult> results_, tried_;
};

TEST_F(IssueTest, AReasonNamesAllModelsThatHaveItTheMostDownloadedFirst) {
  const auto draft = Draft("GB9001");
  ASSERT_TRUE(draft) << draft.error().message;
  ASSERT_EQ(draft->models.size(), 2u);
  EXPECT_EQ(draft->models[0]->info.id, "org/many");
  EXPECT_EQ(draft->site->line, 7);
  EXPECT_EQ(Draft("branch")->site_ids, draft->site_ids);
  const std::string& id = draft->site->site_id;
  EXPECT_EQ(Draft(id)->models.size(), 2u);
  EXPECT_THAT(Text("GB9001"), HasSubstr("2 models of those captured, with 1010 downloads"));
}

TEST_F(IssueTest, AModelHasItsOwnSitesOnly) {
  const auto draft = Draft("org/many");
  ASSERT_TRUE(draft) << draft.error().message;
  EXPECT_EQ(draft->models.size(), 1u);
  EXPECT_EQ(draft->site_ids.size(), 2u);
}

TEST_F(IssueTest, WhatIsNotThereIsSaid) {
  EXPECT_EQ(Draft("org/whole").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(Text("org/whole"), HasSubstr("no break is known of model \"org/whole\""));
  EXPECT_THAT(Text("GB1"), HasSubstr("no model, reason or site"));
  EXPECT_THAT(Text(""), HasSubstr("no model, reason or site"));
  EXPECT_THAT(Text("org/new"), HasSubstr("capture it with `breakwatch sweep --model org/new`"));
}

TEST_F(IssueTest, HasTheMessageOfDynamoWithItsLabels) {
  for (ModelResult& result : results_) {
    for (BreakSite& site : result.capture.sites) {
      site.explanation = "it depends on data", site.hints = {"set `x_y`"}, site.context = "call\n```LazyVariable";
    }
  }
  for (const Tracker tracker : {Tracker::kTorch, Tracker::kTransformers})
    EXPECT_THAT(Text("GB9001", tracker), HasSubstr("````text\nGraph Break Reason: branch\n"
                                                   "  Explanation: it depends on data\n  Hint: set `x_y`\n"
                                                   "  Developer debug context: call ```LazyVariable\n````\n"));
}

TEST_F(IssueTest, EachTrackerGetsTheSectionsOfItsForm) {
  const std::string torch = Text("GB9001", Tracker::kTorch), transformers = Text("GB9001", Tracker::kTransformers);
  for (const char* section : {"### 🐛 Describe the bug", "### Error logs", "### Versions"})
    EXPECT_THAT(torch, HasSubstr(section));
  for (const char* section : {"### System Info", "### Reproduction", "### Expected behavior"})
    EXPECT_THAT(transformers, HasSubstr(section));
  results_[0].capture.sites[0].frame = results_[1].capture.sites[0].frame = "torch";
  EXPECT_EQ(Draft("GB9001")->tracker, Tracker::kTorch);
}

TEST_F(IssueTest, TheFileIsIncludedAndNothingEndsItsBlock) {
  const std::string text = Text("GB9001", Tracker::kTorch, "import torch\ntext = '```'\n");
  EXPECT_THAT(text, HasSubstr("````python\nimport torch\ntext = '```'\n````\n"));
  EXPECT_THAT(text, Not(HasSubstr("breakwatch repro")));
  EXPECT_THAT(Text("GB9001"), HasSubstr("`breakwatch repro org/many --site "));
}

TEST_F(IssueTest, SaysWhichFileIsIncludedAndOfWhichDay) {
  source_ = {"org/many", std::string(40, 'a'), results_[0].capture.started_at + std::chrono::hours(1), "s7"};
  const std::string day = FormatTime(source_.made_at).substr(0, 10);
  EXPECT_THAT(Text("GB9001", Tracker::kTorch, "import torch\n"),
              HasSubstr("From org/many at commit aaaaaaaaaaaa, made on " + day + ":\n\n```python\nimport torch\n"));
  const auto json = nlohmann::json::parse(Text("GB9001", Tracker::kTorch, "x\n", {}, Format::kJson));
  EXPECT_EQ(json["repro"]["sweep_id"], "s7");
}

TEST_F(IssueTest, HasNoMoreCharactersThanAnIssueMay) {
  const std::string line(200, 'x'), script = "import torch\n" + std::string(50'000, '#') + "\n";
  EXPECT_THAT(Text("GB9001", Tracker::kTorch, script), HasSubstr(script));
  BreakSite& site = results_[1].capture.sites[0];
  for (int i = 0; i < 100; ++i) site.stack.push_back(line), site.stack_source.push_back(line);
  results_[0].capture.sites.clear();
  const std::string text = Text("GB9001", Tracker::kTorch, script);
  EXPECT_LE(text.size(), 65'536u);
  EXPECT_THAT(text, HasSubstr("Attach the file"));
  EXPECT_THAT(text, HasSubstr("### Versions"));
}

TEST_F(IssueTest, VersionsAreThoseThatTheFormAsksFor) {
  for (ModelResult& result : results_) {
    result.capture.toolchain.torch = "2.15.0+cu132", result.capture.toolchain.transformers = "5.23.0";
  }
  const std::string torch = Text("GB9001", Tracker::kTorch), transformers = Text("GB9001", Tracker::kTransformers);
  EXPECT_THAT(torch, HasSubstr("PyTorch version: 2.15.0+cu132\nCUDA used to build PyTorch: 13.2\n"));
  EXPECT_THAT(torch, HasSubstr("[pip3] transformers==5.23.0"));
  EXPECT_THAT(transformers, HasSubstr("- `transformers` version: 5.23.0\n"));
  EXPECT_THAT(transformers, HasSubstr("- PyTorch version: 2.15.0+cu132\n"));
  for (const char* section : {"### Who can help?", "### Information", "### Tasks"})
    EXPECT_THAT(transformers, HasSubstr(section));
}

TEST_F(IssueTest, SaysWhatWasTriedAndSinceWhen) {
  EXPECT_THAT(Text("GB9001"), HasSubstr("None were tried"));
  ModelResult tried = results_[0];
  tried.capture.mode = kFixMode;
  tried.capture.mode_detail_json =
      R"({"before": {"breaks": 3, "graphs": 2}, "attempts": [{"names": ["scalars"], "status": "ok", "outcome": "whole",)"
      R"( "after": {"breaks": 0, "graphs": 1}, "removed": [")" +
      results_[0].capture.sites[0].site_id + R"("]}, {"names": ["hangs"], "status": "timeout"}], "best": 0})";
  tried_ = {tried};
  const FirstSeen first{results_[0].capture.started_at + std::chrono::hours(1), "org/few", "0123456789abcdef", "2.15.0",
                        "5.23.0"};
  const std::string text = Text("GB9001", Tracker::kAuto, {}, first);
  EXPECT_THAT(text, HasSubstr("| scalars | whole | gone | 0 | 1 |"));
  EXPECT_THAT(text, HasSubstr("| hangs | timeout |"));
  EXPECT_THAT(text, HasSubstr("org/few at 0123456789ab, torch 2.15.0"));
}

TEST_F(IssueTest, JsonHasTitleAndBody) {
  const auto json = nlohmann::json::parse(Text("org/few", Tracker::kTorch, {}, {}, Format::kJson));
  EXPECT_THAT(json["title"],
              HasSubstr("[Dynamo] graph break in AlphaModel: branch (GB9001) at sample/models/alpha.py:7"));
  EXPECT_EQ(json["tracker"], "torch");
  EXPECT_EQ(json["models"][0]["downloads"], 10);
  EXPECT_TRUE(json["first_seen"].is_null());
}

}  // namespace
}  // namespace breakwatch::report
