#include "requests.h"

#include <gtest/gtest.h>

namespace breakwatch::engine {
namespace {

SweepRequest Top(int n) {
  SweepRequest request;
  request.list.top = n;
  return request;
}

SweepRequest Named(std::vector<std::string> ids) {
  SweepRequest request;
  request.list.ids = std::move(ids);
  return request;
}

TEST(RequestsTest, MakesEqualRequestsOne) {
  Requests requests;
  for (const char* id : {"a", "b", "", "c"}) EXPECT_TRUE(requests.Add(Top(10), id));
  const auto next = requests.Next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->commands, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(next->own);
  EXPECT_FALSE(requests.Next());
}

TEST(RequestsTest, ACancelledCommandLeavesTheRequestToTheOthers) {
  Requests requests;
  for (const char* id : {"a", "b"}) EXPECT_TRUE(requests.Add(Top(10), id));
  EXPECT_TRUE(requests.Cancel("a"));
  EXPECT_FALSE(requests.Cancel("a"));
  EXPECT_EQ(requests.Next()->commands, std::vector<std::string>{"b"});
  EXPECT_TRUE(requests.Add(Top(10), "c"));
  EXPECT_TRUE(requests.Cancel("c"));
  EXPECT_FALSE(requests.Next()) << "nothing waits for it";
  for (const char* id : {"d", ""}) EXPECT_TRUE(requests.Add(Top(10), id));
  EXPECT_TRUE(requests.Cancel("d"));
  EXPECT_TRUE(requests.Next()) << "a tick does";
}

TEST(RequestsTest, KeepsDifferentListsApartInOrder) {
  Requests requests;
  EXPECT_TRUE(requests.Add(Top(10), "a"));
  EXPECT_TRUE(requests.Add(Top(20), "b"));
  EXPECT_EQ(requests.Next()->sweep.list.top, 10);
  EXPECT_EQ(requests.Next()->sweep.list.top, 20);
}

TEST(RequestsTest, MergesRequestsForNamedModels) {
  Requests requests;
  EXPECT_TRUE(requests.Add(Named({"a", "b"}), "1"));
  EXPECT_TRUE(requests.Add(Named({"b", "c"}), "2"));
  EXPECT_EQ(requests.Next()->sweep.list.ids, (std::vector<std::string>{"a", "b", "c"}));
}

TEST(RequestsTest, KeepsDifferentToolchainsApart) {
  Requests requests;
  SweepRequest configured = Named({"a"}), given = Named({"a"});
  configured.toolchain.name = "older";
  given.toolchain = {"older", "/opt/older/bin/python"};
  for (const SweepRequest& request : {Named({"a"}), configured, given}) EXPECT_TRUE(requests.Add(request, "1"));
  EXPECT_EQ(requests.Next()->sweep.toolchain, ToolchainRef{});
  EXPECT_EQ(requests.Next()->sweep.toolchain, configured.toolchain);
  EXPECT_EQ(requests.Next()->sweep.toolchain, given.toolchain);
}

TEST(RequestsTest, KeepsDifferentMeasurementsApart) {
  Requests requests;
  SweepRequest threads = Named({"a"});
  threads.measure = MeasureOptions{.threads = 2};
  EXPECT_TRUE(requests.Add(Named({"a"}), "1"));
  EXPECT_TRUE(requests.Add(threads, "2"));
  EXPECT_TRUE(requests.Add(threads, "3"));
  EXPECT_FALSE(requests.Next()->sweep.measure);
  EXPECT_EQ(requests.Next()->commands, (std::vector<std::string>{"2", "3"}));
  EXPECT_FALSE(requests.Next());
}

TEST(RequestsTest, DoesNotTrackModelsRequestedWithoutTrack) {
  Requests requests;
  SweepRequest track = Named({"a"});
  track.track = true;
  EXPECT_TRUE(requests.Add(track, "1"));
  EXPECT_TRUE(requests.Add(Named({"b"}), "2"));
  EXPECT_EQ(requests.Next()->sweep.list.ids, (std::vector<std::string>{"a"}));
  EXPECT_FALSE(requests.Next()->sweep.track);
}

TEST(RequestsTest, TakesTheMoreThoroughRebuild) {
  Requests requests;
  SweepRequest never = Top(1), always = Top(1);
  never.rebuild = Rebuild::kNever;
  always.rebuild = Rebuild::kAlways;
  EXPECT_TRUE(requests.Add(never, "1"));
  EXPECT_TRUE(requests.Add(always, "2"));
  EXPECT_EQ(requests.Next()->sweep.rebuild, Rebuild::kAlways);
}

TEST(RequestsTest, RefusesMoreDifferentRequestsThanItHolds) {
  Requests requests;
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(requests.Add(Top(i), "x"));
  EXPECT_FALSE(requests.Add(Top(16), "x"));
  EXPECT_TRUE(requests.Add(Top(3), "x"));
}

}  // namespace
}  // namespace breakwatch::engine
