#include "breakwatch/api/event_feed.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fakes/fake_clock.h"

namespace breakwatch::api {
namespace {

using nlohmann::json;

class EventFeedTest : public testing::Test {
 protected:
  json Running() const { return json::parse(feed_.Status())["running"]; }
  void Plans(const std::string& sweep_id, std::size_t models, std::size_t done = 0) {
    Plan plan;
    plan.sweep_id = sweep_id;
    plan.models.resize(models);
    feed_.OnPlan(plan, done);
  }
  void Ends(const std::string& model, std::size_t done, std::size_t total) {
    ModelResult result;
    result.info.id = model;
    result.capture.status = Status::kFullGraph;
    feed_.OnResult(result, done, total);
  }

  fakes::FakeClock clock_;
  EventFeed feed_{clock_};
};

TEST_F(EventFeedTest, TellsHowFarTheSweepIsAndWhenItEnds) {
  EXPECT_TRUE(Running().is_null());
  Plans("s1", 12, 2);
  EXPECT_TRUE(Running()["eta_s"].is_null()) << "nothing was captured yet";
  clock_.Advance(std::chrono::seconds(10));
  Ends("org/a", 3, 12);
  EXPECT_EQ(Running()["done"], 3);
  EXPECT_EQ(Running()["newest"], "org/a");
  EXPECT_EQ(Running()["statuses"], (json{{"full_graph", 1}}));
  EXPECT_EQ(Running()["eta_s"], 90) << "the two of an earlier run do not count";
  feed_.OnFinished({});
  EXPECT_TRUE(Running().is_null());
}

TEST_F(EventFeedTest, GivesWhatCameAfterAnEventAndSaysWhatItForgot) {
  Plans("s1", 1);
  Ends("org/a", 1, 1);
  EXPECT_EQ(feed_.After(1).events.size(), 1u);
  EXPECT_EQ(feed_.After(2).events.size(), 0u);
  EXPECT_TRUE(feed_.After(0).is_complete);
  EXPECT_FALSE(feed_.After(3).is_complete) << "there is no such event yet";
  for (std::size_t i = 0; i < EventFeed::kKept; ++i) feed_.OnStarted("org/a");
  EXPECT_FALSE(feed_.After(1).is_complete);
  EXPECT_EQ(feed_.After(1).events.size(), EventFeed::kKept);
}

TEST_F(EventFeedTest, KnowsItsOwnIdsOnly) {
  EXPECT_EQ(feed_.NumberOf(feed_.IdOf(7)), 7);
  for (const char* id : {"", "7", "20200101T000000-7", "x-"}) EXPECT_FALSE(feed_.NumberOf(id)) << id;
  EXPECT_FALSE(feed_.NumberOf(feed_.IdOf(7) + "x"));
}

TEST_F(EventFeedTest, TellsOfEachChange) {
  int changes = 0;
  feed_.OnChange([&] { ++changes; });
  Plans("s1", 1);
  feed_.OnFailed({ErrorCode::kInterrupted, "cancelled"});
  EXPECT_EQ(changes, 2);
  EXPECT_EQ(json::parse(feed_.After(1).events.at(0).data)["sweep_id"], "s1");
}

}  // namespace
}  // namespace breakwatch::api
