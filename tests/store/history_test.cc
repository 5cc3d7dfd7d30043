#include "breakwatch/core/json.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

TEST_P(StoreTest, ReplaysHistoryInTheOrderItHappened) {
  Begin("s1", {"a/b", "c/d"});
  Append(SampleResult("s1", "c/d"));
  Begin("s2", {"a/b"});
  Append(SampleResult("s2", "a/b"));
  Finish("s2");
  Append(SampleResult("s1", "a/b"));
  Finish("s1");

  std::vector<std::string> seen;
  ASSERT_OK(store_->ReplayHistory([&](const HistoryStep& step) -> Result<void> {
    const char* const kinds[] = {"begun", "result", "finished"};
    std::string text = std::string(kinds[static_cast<int>(step.kind)]) + " " + step.sweep.id;
    if (step.result) text += " " + step.result->info.id;
    if (step.plan) text += " of " + std::to_string(step.plan->models.size());
    seen.push_back(text);
    return {};
  }));
  EXPECT_EQ(seen, (std::vector<std::string>{"begun s1 of 2", "result s1 c/d", "begun s2 of 1", "result s2 a/b",
                                            "finished s2 of 1", "result s1 a/b", "finished s1 of 2"}));
}

TEST_P(StoreTest, ReplaysTheSweepAsItWasAtEachStep) {
  Begin("s1", {"a/b"});
  Sweep interrupted = SampleSweep("s1");
  interrupted.state = SweepState::kInterrupted;
  ASSERT_OK(store_->FinishSweep(interrupted, {}, {}));
  Append(SampleResult("s1", "a/b"));
  Finish("s1");
  std::vector<SweepState> states;
  ASSERT_OK(store_->ReplayHistory([&](const HistoryStep& step) -> Result<void> {
    states.push_back(step.sweep.state);
    return {};
  }));
  EXPECT_EQ(states, (std::vector<SweepState>{SweepState::kRunning, SweepState::kInterrupted, SweepState::kRunning,
                                             SweepState::kFinished}));
}

TEST_P(StoreTest, ReplaysMoreThanOnePageWithUnchangedResults) {
  std::vector<std::string> models;
  for (int i = 0; i < 250; ++i) models.push_back("org/model-" + std::to_string(i));
  Begin("s1", models);
  for (const auto& model : models) Append(SampleResult("s1", model));
  std::size_t next = 0;
  ASSERT_OK(store_->ReplayHistory([&](const HistoryStep& step) -> Result<void> {
    if (!step.result) return {};
    EXPECT_EQ(ToJson(*step.result), ToJson(SampleResult("s1", models[next++])));
    return {};
  }));
  EXPECT_EQ(next, models.size());
}

TEST_P(StoreTest, StopsReplayingOnRequest) {
  Begin("s1", {"a/b"});
  Append(SampleResult("s1", "a/b"));
  int steps = 0;
  const auto stopped = store_->ReplayHistory([&](const HistoryStep&) -> Result<void> {
    ++steps;
    return Error{ErrorCode::kInterrupted, "enough"};
  });
  EXPECT_EQ(stopped.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(steps, 1);
}

}  // namespace
}  // namespace breakwatch::store
