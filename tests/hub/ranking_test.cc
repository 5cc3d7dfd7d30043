#include "ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace breakwatch::hub {
namespace {

using ::testing::ElementsAre;

ListedModel Model(const std::string& id, std::optional<std::int64_t> downloads, const std::string& hub_id = "") {
  ListedModel model;
  model.info.id = id;
  model.info.hub_id = hub_id;
  model.info.downloads = downloads;
  return model;
}

std::vector<std::string> Ids(const std::vector<ListedModel>& models) {
  std::vector<std::string> ids;
  for (const ListedModel& model : models) ids.push_back(model.info.id);
  return ids;
}

TEST(RankingTest, OrdersByFigureThenHubIdAndPutsTheUnknownLast) {
  std::vector<ListedModel> models = {Model("z", {}),     Model("b", 5, "2"), Model("y", {}, "9"), Model("a", {}),
                                     Model("c", 5, "1"), Model("d", 9, "3"), Model("e", 0, "4")};
  SortModels(models, "downloads");
  EXPECT_THAT(Ids(models), ElementsAre("d", "c", "b", "e", "y", "a", "z"));
}

TEST(RankingTest, OrdersFloatScoresAndTimes) {
  std::vector<ListedModel> models = {Model("a", 1), Model("b", 1), Model("c", 1)};
  models[0].trending_score = 0.7;
  models[1].trending_score = 0.7000000000000001;
  models[0].last_modified = "2024-01-01T00:00:00.000Z";
  models[2].last_modified = "2025-01-01T00:00:00.000Z";
  SortModels(models, "trendingScore");
  EXPECT_THAT(Ids(models), ElementsAre("b", "a", "c"));
  SortModels(models, "lastModified");
  EXPECT_THAT(Ids(models), ElementsAre("c", "a", "b"));
}

TEST(RankingTest, ModelsWithOneHubIdAreOneModel) {
  std::vector<ListedModel> models = {Model("a", 1, "1"), Model("renamed", 1, "1"), Model("b", 1), Model("b", 2)};
  EXPECT_EQ(RemoveDuplicates(models), 2);
  EXPECT_THAT(Ids(models), ElementsAre("a", "b"));
}

TEST(RankingTest, TakesTheTopOverallAndNumbersIt) {
  ListRequest request;
  request.top = 2;
  const auto top = TakeTop({Model("a", 3), Model("b", 2), Model("c", 1)}, request);
  EXPECT_THAT(Ids(top), ElementsAre("a", "b"));
  EXPECT_EQ(top[1].info.rank, 2);
}

TEST(RankingTest, TakesTheTopOfEachFamily) {
  std::vector<ListedModel> models = {Model("a", 3), Model("b", 2), Model("c", 1)};
  models[2].info.family = Family::kAudio;
  ListRequest request;
  request.top = 1;
  request.per_family = true;
  EXPECT_THAT(Ids(TakeTop(models, request)), ElementsAre("a", "c"));
}

TEST(RankingTest, AModelOfUnknownSizePassesARange) {
  ListRequest request;
  request.max_params = 10;
  ListedModel model = Model("a", 1);
  EXPECT_TRUE(Matches(model, request));
  model.info.params = 11;
  EXPECT_FALSE(Matches(model, request));
}

TEST(RankingTest, GatedFilterKnowsBothSides) {
  ListRequest request;
  ListedModel gated = Model("a", 1);
  gated.info.gated = "auto";
  request.gated = true;
  EXPECT_TRUE(Matches(gated, request));
  request.gated = false;
  EXPECT_FALSE(Matches(gated, request));
}

}  // namespace
}  // namespace breakwatch::hub
