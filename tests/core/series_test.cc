#include "breakwatch/core/series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/core/exposition.h"
#include "fakes/exposition_reader.h"
#include "fakes/sample_snapshot.h"

namespace breakwatch {
namespace {

using fakes::SeriesByName;
using fakes::SeriesLabels;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

SeriesByName Collected(const Snapshot& snapshot, Shard shard = {}) {
  SeriesByName all;
  EachSeries(snapshot, shard, [&all](const Series& series) {
    SeriesLabels labels;
    for (const auto& [name, value] : series.labels) labels.emplace(name, value);
    const bool is_new = all[std::string(series.name)].emplace(labels, series.value).second;
    EXPECT_TRUE(is_new) << series.name << " comes twice";
  });
  return all;
}

TEST(SeriesTest, AreThoseOfTheExposition) {
  const Snapshot snapshot = fakes::SampleSnapshot();
  EXPECT_EQ(Collected(snapshot), fakes::ExpositionReader::Read(Exposition(snapshot)));
  EXPECT_GT(Collected(snapshot).size(), 15u);
}

TEST(SeriesTest, HaveLabelsWithoutEscapes) {
  Snapshot snapshot;
  const std::string hostile = "a\"b\\c\nd\\ne,f=\"} 7 é";
  snapshot.models.push_back(fakes::MakeModel(hostile, fakes::Commit('a'), {}));
  const SeriesByName series = Collected(snapshot);
  EXPECT_THAT(series.at("breakwatch_model_rank"),
              UnorderedElementsAre(
                  Pair(SeriesLabels{{"family", "nlp"}, {"model", hostile}, {"commit", fakes::Commit('a')}}, 1)));
}

TEST(SeriesTest, KnowTheirTypeAndHelp) {
  std::map<std::string, std::pair<SeriesType, std::string>> seen;
  EachSeries(fakes::SampleSnapshot(), {}, [&seen](const Series& series) {
    seen[std::string(series.name)] = {series.type, std::string(series.help)};
  });
  EXPECT_THAT(seen["compile_graphs"], Pair(SeriesType::kGauge, "Graphs that Dynamo made."));
  EXPECT_EQ(seen["compile_breaks_total"].first, SeriesType::kCounter);
}

TEST(SeriesTest, OfAllShardsAreThoseOfTheWhole) {
  const Snapshot snapshot = fakes::SampleSnapshot();
  SeriesByName merged;
  for (std::size_t index = 0; index < 3; ++index) {
    for (auto& [name, series] : Collected(snapshot, {index, 3})) merged[name].merge(series);
  }
  EXPECT_EQ(merged, Collected(snapshot));
}

TEST(SeriesTest, CrossChunksWithTheirHelp) {
  Snapshot snapshot;
  for (int i = 0; i < 2000; ++i)
    snapshot.models.push_back(fakes::MakeModel("org/m" + std::to_string(i), fakes::Commit('a'), {}));
  std::size_t count = 0;
  EachSeries(snapshot, {}, [&count](const Series& series) {
    if (series.name != "breakwatch_model_in_ranking") return;
    ++count;
    EXPECT_EQ(series.help, "1 while the model is in the newest complete ranking, else 0.");
  });
  EXPECT_EQ(count, 2000u);
}

}  // namespace
}  // namespace breakwatch
