#include "model_metrics.h"

#include <gtest/gtest.h>

#include <vector>

#include "breakwatch/core/exposition.h"
#include "fakes/sample_snapshot.h"

namespace breakwatch::api {
namespace {

// So many models that the compressed series have several pieces.
SnapshotPtr Large() {
  auto snapshot = std::make_shared<Snapshot>(fakes::SampleSnapshot());
  const TrackedModel model = snapshot->models.front();
  for (int i = 0; i < 4'000; ++i) {
    TrackedModel copy = model;
    copy.model = "org/model-" + std::to_string(i * 7'919);
    snapshot->models.push_back(std::move(copy));
  }
  return snapshot;
}

std::string Whole(const PackedText& packed) {
  std::string member;
  while (member.size() < packed.size()) member += packed.From(member.size());
  return member;
}

TEST(ModelMetricsTest, CompressesASnapshotOnceForAllWhoScrapeIt) {
  ModelMetrics metrics;
  const SnapshotPtr snapshot = Large();
  const auto first = metrics.Scrape(snapshot), second = metrics.Scrape(snapshot);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->get(), second->get());
  EXPECT_EQ(*Gunzip(Whole(**first), 1u << 30), Exposition(*snapshot));
}

TEST(ModelMetricsTest, CompressesTheNextSnapshotAnew) {
  ModelMetrics metrics;
  const SnapshotPtr before = Large();
  const auto held = metrics.Scrape(before);
  auto after = std::make_shared<Snapshot>(*before);
  after->models.Own(0).rank = 77;
  const auto fresh = metrics.Scrape(after);
  ASSERT_TRUE(held && fresh);
  EXPECT_EQ(*Gunzip(Whole(**fresh), 1u << 30), Exposition(*after));
  EXPECT_EQ(*Gunzip(Whole(**held), 1u << 30), Exposition(*before)) << "a scrape that goes on keeps its own";
}

TEST(ModelMetricsTest, RefusesMoreScrapesAtOnceUntilOneEnds) {
  ModelMetrics metrics;
  const SnapshotPtr snapshot = Large();
  std::vector<std::shared_ptr<const PackedText>> running;
  for (int i = 0; i < ModelMetrics::kAtOnce; ++i) running.push_back(*metrics.Scrape(snapshot));
  EXPECT_EQ(*metrics.Scrape(snapshot), nullptr);
  EXPECT_EQ(*metrics.Scrape(snapshot), nullptr) << "a refused one takes no place";
  running.pop_back();
  EXPECT_NE(*metrics.Scrape(snapshot), nullptr);
}

TEST(TextReaderTest, ReadsTheTextFromAnyPlace) {
  ModelMetrics metrics;
  const SnapshotPtr snapshot = Large();
  const auto packed = *metrics.Scrape(snapshot);
  const std::string text = Exposition(*snapshot);
  ASSERT_EQ(packed->text_bytes(), text.size());
  TextReader reader(packed);
  std::string read;
  for (std::string_view piece; !(piece = reader.From(read.size())).empty();) read += piece;
  EXPECT_EQ(read, text);
  for (const std::size_t at : {text.size() - 10, std::size_t{0}, std::size_t{200'000}, std::size_t{1}}) {
    EXPECT_EQ(reader.From(at).substr(0, 10), std::string_view(text).substr(at, 10)) << at;
  }
  EXPECT_EQ(reader.From(text.size()), "");
}

}  // namespace
}  // namespace breakwatch::api
