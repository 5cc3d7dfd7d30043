// A loop with fakes and a real store in its own folder.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/engine/loop.h"
#include "engine/support.h"
#include "fakes/recording_progress.h"

namespace breakwatch::engine {

class LoopFixture : public ::testing::Test {
 protected:
  LoopFixture() {
    options_.plan.toolchain = TestToolchain();
    options_.plan.verify_share = 0;
    runner_.toolchain = TestToolchain();
  }

  Loop MakeLoop() { return MakeLoop(*store_); }
  Loop MakeLoop(store::SweepStore& sweeps) { return MakeLoop(sweeps, *store_); }
  Loop MakeLoop(store::SweepStore& sweeps, store::EventLog& event_log) {
    const auto publish = [this](SnapshotPtr snapshot, bool urgent) {
      published_.emplace_back(std::move(snapshot), urgent);
    };
    LoopParts parts{.sweeps = sweeps,
                    .event_log = event_log,
                    .current = *store_,
                    .lister = lister_,
                    .runner = runner_,
                    .clock = clock_,
                    .progress = progress_,
                    .commands = commands_,
                    .publish = publish,
                    .count_workers = count_workers_,
                    .events_stored = [this] { ++events_notified_; },
                    .open_current = open_current_,
                    .show = [this](SnapshotPtr snapshot) { shown_.push_back(std::move(snapshot)); },
                    .reload = [this] { return reload_(); },
                    .open_toolchain = open_toolchain_,
                    .held = held_};
    return Loop(std::move(parts), options_);
  }

  Result<Sweep> RunSweep(const SweepRequest& request = {}) { return MakeLoop().RunSweep(request); }
  Result<Sweep> Resume() {
    SweepRequest request;
    request.resume = true;
    return RunSweep(request);
  }
  void Stop() {
    Command stop;
    stop.kind = Command::Kind::kStop;
    ASSERT_TRUE(commands_.Push(stop));
  }
  void Ask(const std::string& id, SweepRequest request = {}) {
    Command command;
    command.id = id;
    command.request = std::move(request);
    command.request.trigger = SweepTrigger::kApi;
    ASSERT_TRUE(commands_.Push(command));
  }

  std::vector<ModelResult> Results(const std::string& sweep_id) { return *store_->Results(sweep_id); }
  std::map<std::string, std::string> Statuses(const std::string& sweep_id) {
    std::map<std::string, std::string> statuses;
    for (const ModelResult& result : Results(sweep_id)) {
      EXPECT_TRUE(statuses.emplace(result.info.id, StatusName(result.capture.status)).second) << result.info.id;
      EXPECT_FALSE(result.capture.detail.empty()) << result.info.id;
    }
    return statuses;
  }
  // The number of stored events by name.
  std::map<std::string, int> EventCounts() {
    std::map<std::string, int> counts;
    const auto events = store_->EventsAfter(0, 100'000, 1u << 30);
    for (const StoredEvent& event : *events) ++counts[NameOf(event)];
    return counts;
  }
  // The folds of the published toolchain or of a named one, with rows of every scope.
  std::vector<TrendFold> Trends(const std::string& toolchain = "") {
    std::vector<TrendFold> folds;
    for (const TrendScope by : {TrendScope::kAll, TrendScope::kFamily, TrendScope::kReason}) {
      const auto read = store_->ReadTrends({.by = by, .toolchain = toolchain});
      folds.insert(folds.end(), read->begin(), read->end());
    }
    return folds;
  }
  // The stored state equals the one that a new fold of the history returns.
  void ExpectFoldEqualsHistory() {
    const store::Current before = *store_->LoadCurrent();
    const std::vector<TrendFold> trends = Trends(), all_trends = Trends("default");
    ASSERT_TRUE(RebuildCurrent(*store_, options_.aggregate).ok());
    EXPECT_EQ(trends, Trends());
    EXPECT_EQ(all_trends, Trends("default"));
    const store::Current after = *store_->LoadCurrent();
    EXPECT_EQ(before.meta, after.meta);
    ASSERT_EQ(before.models.size(), after.models.size());
    for (std::size_t i = 0; i < before.models.size(); ++i) EXPECT_EQ(before.models[i], after.models[i]);
  }

  TempFolder folder_;
  fakes::FakeClock clock_;
  fakes::FakeModelLister lister_;
  fakes::FakeCaptureRunner runner_{clock_};
  fakes::RecordingProgress progress_;
  CommandQueue commands_;
  LoopOptions options_;
  std::unique_ptr<store::Store> store_ = OpenStoreAt(folder_.Url(), clock_);
  std::vector<std::pair<SnapshotPtr, bool>> published_;  // with whether it was urgent
  std::function<void(const WorkersOfAll&)> count_workers_;
  int events_notified_ = 0;
  std::function<Result<std::unique_ptr<store::CurrentState>>()> open_current_;
  std::vector<SnapshotPtr> shown_;  // the state of an older program
  std::function<Result<FurtherToolchain>(const ToolchainRef&)> open_toolchain_;
  std::function<Result<void>()> held_;
  bool asked_ = false;  // for hooks that act once
  std::function<Result<LoopOptions>()> reload_ = [this] { return Result<LoopOptions>(options_); };
};

}  // namespace breakwatch::engine
