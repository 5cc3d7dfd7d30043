#include "listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "small_recording.h"

namespace breakwatch::hub_replay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ListingTest : public ::testing::Test {
 protected:
  void Add(const std::string& id, const std::string& hub_id, Json more = {}) {
    bodies_.push_back(Body(id, hub_id, std::move(more)));
  }

  ListQuery Query(std::string_view text) {
    const auto query = ParseListQuery(ParseQuery(text));
    EXPECT_TRUE(query.ok()) << text;
    return query.ok() ? *query : ListQuery();
  }

  // The ids of all pages, "|" between pages.
  std::vector<std::string> Pages(std::string_view text, bool repeat_last = false) {
    std::vector<const Json*> models;
    for (const Json& body : bodies_) models.push_back(&body);
    ListQuery query = Query(text);
    std::vector<std::string> ids;
    for (int i = 0; i < 20; ++i) {
      const auto page = MakePage(models, query, repeat_last);
      EXPECT_TRUE(page.ok());
      for (const Json* body : page->models) ids.push_back((*body)["id"]);
      if (!page->next_cursor) return ids;
      ids.emplace_back("|");
      query.cursor = *page->next_cursor;
    }
    ADD_FAILURE() << "the listing does not end";
    return ids;
  }

  std::vector<Json> bodies_;
};

TEST_F(ListingTest, OrdersByValueDescendingThenIdAscendingWithoutValueLast) {
  Add("a/none", "1", {{"downloads", nullptr}});
  Add("a/low", "2", {{"downloads", 1}});
  Add("a/tie-late", "4", {{"downloads", 5}});
  Add("a/tie-early", "3", {{"downloads", 5}});
  EXPECT_THAT(Pages("sort=downloads"), ElementsAre("a/tie-early", "a/tie-late", "a/low", "a/none"));
}

TEST_F(ListingTest, HasTheSameOrderInPagesAsInOne) {
  for (int i = 0; i < 7; ++i) {
    Add("a/m" + std::to_string(i), std::to_string(i), {{"likes", i < 5 ? Json(i / 2) : Json(nullptr)}});
  }
  EXPECT_THAT(Pages("sort=likes&limit=2"),
              ElementsAre("a/m4", "a/m2", "|", "a/m3", "a/m0", "|", "a/m1", "a/m5", "|", "a/m6"));
}

TEST_F(ListingTest, HasNoCursorAfterAPageThatEndsExactly) {
  Add("a/x", "1");
  Add("a/y", "2");
  EXPECT_THAT(Pages("sort=downloads&limit=2"), ElementsAre("a/x", "a/y"));
}

TEST_F(ListingTest, OrdersCreatedAtByIdBackwards) {
  Add("a/old", "1");
  Add("a/new", "3");
  Add("a/mid", "2");
  EXPECT_THAT(Pages("sort=createdAt&limit=2"), ElementsAre("a/new", "a/mid", "|", "a/old"));
}

TEST_F(ListingTest, OrdersByFloatTrendingScoresWithoutASort) {
  Add("a/one", "1", {{"trendingScore", 0.7000000000000001}});
  Add("a/two", "2", {{"trendingScore", 3}});
  EXPECT_THAT(Pages("limit=1"), ElementsAre("a/two", "|", "a/one"));
}

TEST_F(ListingTest, RepeatsTheLastModelOfAPageIfConfigured) {
  for (const char* id : {"1", "2", "3"}) Add(std::string("a/m") + id, id);
  EXPECT_THAT(Pages("sort=downloads&limit=1", true), ElementsAre("a/m1", "|", "a/m1", "a/m2", "|", "a/m2", "a/m3"));
}

TEST_F(ListingTest, RequiresEveryFilter) {
  Add("a/both", "1", {{"tags", {"pytorch", "bert"}}, {"pipeline_tag", "fill-mask"}});
  Add("a/one", "2", {{"tags", {"pytorch"}}});
  EXPECT_THAT(Pages("filter=pytorch&filter=bert"), ElementsAre("a/both"));
  EXPECT_THAT(Pages("filter=pytorch,fill-mask"), ElementsAre("a/both"));
  EXPECT_THAT(Pages("filter=pytorch&filter=tf"), IsEmpty());
}

TEST_F(ListingTest, FindsByOwnerSearchTaskAndLibrary) {
  Add("org/Bert-Base", "1", {{"pipeline_tag", "fill-mask"}, {"library_name", "transformers"}});
  Add("organ/gpt", "2", {{"pipeline_tag", "text-generation"}, {"library_name", "timm"}, {"tags", Json::array()}});
  EXPECT_THAT(Pages("author=org"), ElementsAre("org/Bert-Base"));
  EXPECT_THAT(Pages("search=bert&search=ORG"), ElementsAre("org/Bert-Base"));
  EXPECT_THAT(Pages("pipeline_tag=text-generation"), ElementsAre("organ/gpt"));
  EXPECT_THAT(Pages("filter=timm"), ElementsAre("organ/gpt"));
}

TEST_F(ListingTest, FiltersGatedModelsOfEveryKind) {
  Add("a/open", "1");
  Add("a/auto", "2", {{"gated", "auto"}});
  Add("a/manual", "3", {{"gated", "manual"}});
  EXPECT_THAT(Pages("gated=true"), UnorderedElementsAre("a/auto", "a/manual"));
  EXPECT_THAT(Pages("gated=False"), ElementsAre("a/open"));
}

TEST_F(ListingTest, KeepsModelsInsideTheParameterRange) {
  Add("a/small", "1", {{"safetensors", {{"total", 500'000'000}}}});
  Add("a/large", "2", {{"safetensors", {{"total", 8'000'000'000}}}});
  Add("a/unknown", "3");
  EXPECT_THAT(Pages("num_parameters=min:6B,max:128B"), ElementsAre("a/large"));
  EXPECT_THAT(Pages("num_parameters=max:0.5B"), ElementsAre("a/small"));
  EXPECT_FALSE(ParseListQuery(ParseQuery("num_parameters=many")).ok());
}

TEST_F(ListingTest, IgnoresDirectionAndUnknownNames) {
  Add("a/x", "1");
  EXPECT_THAT(Pages("direction=-1&nonsense=1&limit=%7B%7D"), ElementsAre("a/x"));
}

TEST_F(ListingTest, ShowsExactlyTheExpandedFields) {
  const Json body = Body("a/x", "1", {{"model-index", nullptr}});
  const Json shown = Shown(body, Query("expand=sha&expand[]=model-index&expand=cardData&full=true"));
  EXPECT_EQ(shown, Json({{"_id", "1"}, {"id", "a/x"}, {"sha", kSha}, {"model-index", nullptr}}));
}

TEST_F(ListingTest, ShowsMoreFieldsOnlyOnRequest) {
  const Json body = Body("a/x", "1", {{"config", {{"model_type", "bert"}}}, {"cardData", {{"license", "mit"}}}});
  const Json plain = Shown(body, Query(""));
  EXPECT_FALSE(plain.contains("sha"));
  EXPECT_FALSE(plain.contains("config"));
  EXPECT_EQ(plain["modelId"], "a/x");
  EXPECT_TRUE(Shown(body, Query("full=True")).contains("sha"));
  EXPECT_TRUE(Shown(body, Query("config=1&cardData=true")).contains("cardData"));
}

TEST_F(ListingTest, ListsTheKnownExpandValues) {
  for (const char* text : {"expand=foo", "expand=_id", "expand=cardData.license"}) {
    const auto query = ParseListQuery(ParseQuery(text));
    ASSERT_FALSE(query.ok());
    EXPECT_THAT(query.error().message, HasSubstr("\"expand\" must be one of [author, baseModels, "));
    EXPECT_THAT(query.error().message, HasSubstr("model-index, "));
  }
}

TEST_F(ListingTest, RefusesAnUnknownSort) {
  const auto query = ParseListQuery(ParseQuery("sort=trending_score"));
  ASSERT_FALSE(query.ok());
  EXPECT_EQ(query.error().message, "Invalid sort parameter: trending_score");
}

}  // namespace
}  // namespace breakwatch::hub_replay
