// SweepRun: one plan from its first capture to its last result.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission.h"
#include "loop_state.h"

namespace breakwatch::engine {

// Thread: the loop's. `state` and `plan` must outlive it.
class SweepRun {
 public:
  // Takes the configuration out of each entry of `plan` whose result is stored: those of the whole Hub are large.
  SweepRun(LoopState& state, std::string sweep_id, Plan& plan);

  // Takes over the results of an earlier process. `stored`: by place in the plan, see HaveResults. Call it before
  // CaptureAll.
  void TakeOver(const std::vector<ModelResult>& results, const std::vector<bool>& stored);
  // No captures may start: each model that needs one ends as not_attempted, with this reason.
  void ForbidCaptures(std::string why) { unable_ = std::move(why); }
  // Runs until the last result. Error: kInterrupted after a stop, or kStore. It then kills the running captures.
  Result<void> CaptureAll();
  // The number of models by final status.
  const std::map<std::string, int>& Statuses() const { return statuses_; }
  const std::map<std::string, std::map<std::string, int>>& StatusesByMode() const { return by_mode_; }
  // The number of results taken over that are damaged. They have no status.
  std::size_t Damaged() const { return damaged_; }

 private:
  using Entry = std::pair<std::string, std::string>;  // of a plan: model, mode

  void Schedule();
  Result<void> Step();
  Result<void> StartCaptures();
  void ExpectCosts();
  // Settles a group of results that need no capture, in one transaction.
  Result<void> SettleSome();
  Result<std::optional<ModelResult>> KnownResult(std::size_t index);
  Result<void> WaitForCapture();
  CaptureResult CapturedByAnother(CaptureResult capture) const;
  Result<void> FinishCapture(CaptureResult capture);
  Result<void> EndWithoutCapture(std::size_t index, const std::string& why);
  // Stores the result of the model, and those of the models that share its capture.
  Result<void> Settle(std::size_t index, CaptureResult capture, std::string capture_id);
  Result<void> Append(ModelResult result);
  Result<void> Append(std::vector<ModelResult> results);
  ModelResult ResultOf(std::size_t index) const;
  void Count(const ModelResult& result);
  void Settled(std::size_t index) { std::string().swap(plan_.models[index].config_json); }
  CaptureJob JobOf(std::size_t index) const;
  void NoteWaiting();
  void PublishWhenDue();

  LoopState& state_;
  const std::string sweep_id_;
  Plan& plan_;
  const CaptureLimits limits_;
  std::vector<bool> done_;
  std::size_t done_count_ = 0, damaged_ = 0;
  std::map<std::string, int> statuses_;
  std::map<std::string, std::map<std::string, int>> by_mode_;
  std::map<Entry, ModelResult> earlier_;  // results taken over whose captures others share
  std::deque<std::size_t> known_;         // these need no capture
  std::deque<std::size_t> to_capture_;    // longest first
  Admission admission_;
  std::map<Entry, std::vector<std::size_t>> shares_;  // by the entry whose capture they wait for
  std::map<std::string, std::size_t> running_;        // by job
  std::optional<std::string> unable_;                 // why no more captures can start
  std::string waiting_;                               // as the listener knows it
  bool unpublished_ = false;
};

}  // namespace breakwatch::engine
