#include "breakwatch/report/site_costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fakes/sample_fixes.h"
#include "sample_sweep.h"

namespace breakwatch::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

ModelResult Model(const std::string& id, std::vector<BreakSite> sites, std::int64_t downloads) {
  ModelResult result = Captured(id, std::move(sites));
  result.info.downloads = downloads;
  return result;
}

// Two models break at line 1 only, one at lines 1 and 2, a popular one at line 3.
std::vector<ModelResult> Results() {
  return {Model("org/a", {Site("sync", "GB1", 2, 1)}, 10), Model("org/b", {Site("sync", "GB1", 1, 1)}, 20),
          Model("org/c", {Site("sync", "GB1", 1, 1), Site("loop", "GB2", 1, 2)}, 5),
          Model("org/d", {Site("print", "", 9, 3)}, 1000), Model("org/whole", {}, 7)};
}

json Document(const SiteEvidence& evidence, const SiteOptions& options = {}) {
  return json::parse(RenderSiteCosts(evidence, options, Format::kJson));
}

std::vector<std::string> Values(const json& rows, const std::string& field) {
  std::vector<std::string> values;
  for (const json& row : rows) values.push_back(row[field].get<std::string>());
  return values;
}

TEST(SiteCostsTest, CountsModelsDownloadsAndThoseWithNoOtherSite) {
  const auto results = Results();
  const json sites = Document({.results = results})["sites"];
  ASSERT_EQ(Values(sites, "site_id"), (std::vector<std::string>{"site1", "site3", "site2"}));
  EXPECT_EQ(sites[0]["models"], 3);
  EXPECT_EQ(sites[0]["downloads"], 35);
  EXPECT_EQ(sites[0]["leverage"], 2) << "org/c has another site";
  EXPECT_EQ(sites[0]["events"], 4);
  EXPECT_EQ(sites[0]["owner"], "library");
  EXPECT_EQ(sites[0]["example_model"], "org/a");
}

TEST(SiteCostsTest, OrdersAsAskedAndStopsAtTheLimit) {
  const auto results = Results();
  const auto first = [&](SiteOrder order) {
    return Values(Document({.results = results}, {.order = order, .limit = 1})["sites"], "site_id");
  };
  EXPECT_EQ(first(SiteOrder::kDownloads), std::vector<std::string>{"site3"});
  EXPECT_EQ(first(SiteOrder::kEvents), std::vector<std::string>{"site3"});
  EXPECT_EQ(first(SiteOrder::kLeverage), std::vector<std::string>{"site1"});
  EXPECT_FALSE(ParseSiteOrder("cost"));
}

TEST(SiteCostsTest, ChoosesTheLinesThatMakeTheMostModelsWhole) {
  const auto results = Results();
  const json document = Document({.results = results});
  EXPECT_EQ(document["broken_models"], 4);
  const json& curve = document["unblock"];
  ASSERT_EQ(curve.size(), 3U);
  EXPECT_EQ(curve[0]["models"], 2);
  EXPECT_EQ(curve[0]["site_ids"], "site1");
  EXPECT_EQ(curve[1]["models"], 3);
  EXPECT_EQ(curve[2]["models"], 4);
  EXPECT_DOUBLE_EQ(curve[2]["share"], 1.0);
  EXPECT_TRUE(curve[2]["exact"]);
  const json weighed = Document({.results = results}, {.order = SiteOrder::kDownloads, .lines = 1})["unblock"];
  EXPECT_EQ(weighed[0]["site_ids"], "site3") << "the most downloads";
}

TEST(SiteCostsTest, NamesTheToolchainsThatDoNotHaveTheSite) {
  const auto results = Results();
  std::vector<ModelResult> others{Model("org/a", {}, 10), Model("org/d", {Site("print", "", 1, 3)}, 10)};
  for (ModelResult& other : others) other.capture.toolchain.name = "older";
  const json sites = Document({.results = results, .other_toolchains = others})["sites"];
  EXPECT_EQ(sites[0]["not_with"], "older");
  EXPECT_TRUE(sites[1]["not_with"].is_null()) << "it breaks there, too";
  EXPECT_TRUE(sites[2]["not_with"].is_null()) << "that model was not captured there";
}

TEST(SiteCostsTest, NamesTheFixThatRemovesASiteFromTheMostModels) {
  const auto results = Results();
  std::vector<ModelResult> tried;
  for (const char* id : {"org/a", "org/b"}) {
    ModelResult& model = tried.emplace_back(Model(id, {}, 1));
    model.capture = fakes::TriedCapture(std::string(R"({"attempts": [
        {"names": ["use_cache"], "status": "ok", "outcome": "same", "after": {}},
        {"names": ["scalars"], "status": "ok", "outcome": "whole", "after": {}, "removed": [)") +
                                        (id == std::string("org/a") ? R"("site1")" : "") + "]}]}");
  }
  const json sites = Document({.results = results, .tried = tried})["sites"];
  EXPECT_EQ(sites[0]["fix"], "scalars (1 of 2)");
  EXPECT_TRUE(sites[1]["fix"].is_null()) << "nothing was tried on org/d";
  const json none = Document({.results = results, .tried = std::span(tried).last(1)})["sites"];
  EXPECT_EQ(none[0]["fix"], "none of 2");
}

TEST(SiteCostsTest, ShowsTheModelsLineOfASiteInAHelper) {
  auto results = Results();
  results[0].capture.sites[0].stack = {"transformers/models/x/modeling_x.py:8 in forward",
                                       "transformers/masking_utils.py:1 in mask"};
  results[0].capture.sites[0].file = "transformers/masking_utils.py";
  const json sites = Document({.results = results})["sites"];
  EXPECT_EQ(sites[0]["model_line"], "transformers/models/x/modeling_x.py:8 in forward");
  EXPECT_EQ(sites[0]["callers"], 1);
  EXPECT_TRUE(sites[1]["model_line"].is_null());
}

TEST(SiteCostsTest, TheTextNamesTheLinesToChange) {
  const auto results = Results();
  const std::string text = RenderSiteCosts({.results = results}, {.lines = 2}, Format::kText);
  EXPECT_THAT(text, HasSubstr("Change 2 lines and 3 of 4 models become whole"));
  EXPECT_THAT(text, HasSubstr("sample/models/alpha.py:3"));
  const std::vector whole{Captured("org/whole", {})};
  EXPECT_THAT(RenderSiteCosts({.results = whole}, {}, Format::kText), HasSubstr("no graph breaks"));
  EXPECT_THAT(RenderSiteCosts({.results = results}, {}, Format::kMarkdown), HasSubstr("## Change 3 lines"));
  EXPECT_THAT(RenderSiteCosts({.results = results}, {}, Format::kCsv), Not(HasSubstr("Change")));
}

}  // namespace
}  // namespace breakwatch::report
