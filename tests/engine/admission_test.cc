#include "admission.h"

#include <gtest/gtest.h>

#include "engine/loop_fixture.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeModel;

constexpr std::int64_t kGiB = 1LL << 30;

PlannedModel Planned(const std::string& id, const std::string& structure, std::optional<std::int64_t> params = {}) {
  PlannedModel planned;
  planned.info = FakeModel(id, 1, "").info;
  planned.info.architectures = {"Class"};
  planned.info.model_type = "type";
  planned.info.params = params;
  planned.structure = structure;
  return planned;
}

TEST(ExpectCostsTest, TakesTheStructureBeforeTheClassBeforeTheTypeBeforeTheParameters) {
  Plan plan;
  plan.models = {Planned("a", "s"), Planned("b", "other"), Planned("c", "other"), Planned("d", "other", 7'000'000'000)};
  plan.models[2].info.architectures = {"Unknown"};
  plan.models[3].info.architectures.clear();
  plan.models[3].info.model_type = "unknown";
  KnownCosts costs;
  costs.structures["s"] = {10, 1024};
  costs.classes["Class"] = {20, 2048};
  costs.model_types["type"] = {30, 0};
  const auto expected = ExpectCosts(plan, {{"eval", costs}});
  EXPECT_EQ(expected[0].seconds, 10);
  EXPECT_EQ(expected[0].bytes, kGiB);
  EXPECT_EQ(expected[1].seconds, 20);
  EXPECT_EQ(expected[2].seconds, 30);
  EXPECT_GT(expected[2].bytes, 0);  // unknown is not zero
  EXPECT_GT(expected[3].seconds, Expected{}.seconds);
}

TEST(ExpectCostsTest, OfAnotherModeAreNotUsed) {
  Plan plan;
  plan.models = {Planned("a", "s"), Planned("a", "s")};
  plan.models[1].mode = "train";
  KnownCosts costs;
  costs.structures["s"] = {100, 1024};
  const auto expected = ExpectCosts(plan, {{"eval", costs}});
  EXPECT_EQ(expected[0].seconds, 100);
  EXPECT_LT(expected[1].seconds, 100);
}

class AdmissionTest : public ::testing::Test {
 protected:
  Admission Make(std::vector<Expected> expected, std::int64_t bound = 0) {
    Admission admission(bound, [this] { return available_; });
    admission.Expect(std::move(expected));
    return admission;
  }
  std::optional<std::int64_t> available_;
};

TEST_F(AdmissionTest, PutsTheLongestFirstAndKeepsTheOrderOfEquals) {
  std::deque<std::size_t> waiting{0, 1, 2, 3};
  Make({{1, 0}, {5, 0}, {1, 0}, {9, 0}}).Sort(waiting);
  EXPECT_EQ(waiting, (std::deque<std::size_t>{3, 1, 0, 2}));
}

TEST_F(AdmissionTest, StartsTheFirstThatFitsBesideWhatRuns) {
  Admission admission = Make({{9, 3 * kGiB}, {5, 3 * kGiB}, {1, kGiB}}, 4 * kGiB);
  EXPECT_EQ(admission.Next({0, 1, 2}), 0u);
  admission.Started(0);
  EXPECT_EQ(admission.Next({1, 2}), 1u);  // the second in the queue
  admission.Started(2);
  EXPECT_EQ(admission.Next({1}), std::nullopt);
  admission.Ended(0);
  EXPECT_EQ(admission.Next({1}), 0u);
}

TEST_F(AdmissionTest, StartsOneHoweverLargeWhereNothingRuns) {
  Admission admission = Make({{9, 100 * kGiB}, {5, kGiB}}, 4 * kGiB);
  EXPECT_EQ(admission.Next({0, 1}), 0u);
  available_ = 0;
  EXPECT_EQ(Make({{9, 100 * kGiB}}).Next({0}), 0u);
}

TEST_F(AdmissionTest, LooksAtWhatTheMachineHasLeft) {
  available_ = 10 * kGiB;
  Admission admission = Make({{9, 4 * kGiB}, {5, 4 * kGiB}, {1, 4 * kGiB}});
  ASSERT_EQ(admission.Next({0, 1, 2}), 0u);
  admission.Started(0);
  EXPECT_EQ(admission.Next({1, 2}), 0u);
  available_ = kGiB;  // another program uses the rest
  EXPECT_EQ(admission.Next({1, 2}), std::nullopt);
  available_ = 10 * kGiB;
  admission.Started(1);
  EXPECT_EQ(admission.Next({2}), std::nullopt);  // needs 12 GiB of the 9 GiB available
}

// --- in a sweep

class AdmittedSweepTest : public LoopFixture {};

TEST_F(AdmittedSweepTest, StartsTheLongestFirstAndKeepsTheOrderOfThePlanInItsResults) {
  lister_.Answer(
      ListOf({FakeModel("short", 1, Config(1)), FakeModel("long", 2, Config(2)), FakeModel("mid", 3, Config(3))}));
  lister_.Answer(
      ListOf({FakeModel("short", 1, Config(1)), FakeModel("long", 2, Config(2)), FakeModel("mid", 3, Config(3))}));
  runner_.on_start = [this](const CaptureJob& job) {
    runner_.capture_takes = std::chrono::seconds(job.model == "long" ? 50 : job.model == "mid" ? 20 : 5);
  };
  ASSERT_TRUE(RunSweep().ok());
  runner_.started.clear();
  SweepRequest again;
  again.rebuild = Rebuild::kAlways;
  const auto sweep = RunSweep(again);
  ASSERT_TRUE(sweep.ok());
  std::vector<std::string> started, stored;
  for (const CaptureJob& job : runner_.started) started.push_back(job.model);
  for (const ModelResult& result : Results(sweep->id)) stored.push_back(result.info.id);
  EXPECT_EQ(started, (std::vector<std::string>{"long", "mid", "short"}));
  EXPECT_EQ(stored, (std::vector<std::string>{"short", "long", "mid"}));
}

TEST_F(AdmittedSweepTest, EndsEveryModelAlsoWhereMemoryAllowsOneAtATime) {
  lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2)), FakeModel("c", 3, Config(3))}));
  options_.memory_bytes = 1;
  std::size_t most = 0;
  runner_.on_start = [&](const CaptureJob&) { most = std::max(most, 2 - runner_.Capacity()); };
  const auto sweep = RunSweep();
  ASSERT_TRUE(sweep.ok());
  EXPECT_TRUE(sweep->complete);
  EXPECT_EQ(most, 0u);  // others that run when one starts
}

}  // namespace
}  // namespace breakwatch::engine
