// A runner without processes: captures end in the order of their start, with scripted results.
#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/capture_runner.h"
#include "fakes/fake_clock.h"

namespace breakwatch::fakes {

inline BreakSite FakeSite(const std::string& reason, const std::string& gb_id, std::int64_t occurrences = 1,
                          const std::string& file = "fake/modeling_fake.py") {
  BreakSite site;
  site.site_id = "site-" + reason + "-" + file;
  site.reason = reason;
  site.gb_id = gb_id;
  site.fixability = "supportable";
  site.file = file;
  site.line = 7;
  site.function = "forward";
  site.source_line = "x = y";
  site.frame = "library";
  site.occurrences = occurrences;
  return site;
}

// A result with every number that a good capture has.
inline CaptureResult GoodCapture(std::vector<BreakSite> sites = {}) {
  CaptureResult result;
  result.status = sites.empty() ? Status::kFullGraph : Status::kGraphBreaks;
  result.detail = sites.empty() ? "one graph" : "graph breaks";
  result.phase = "done";
  result.architecture = "FakeModel";
  result.mode = "eval";
  result.depth = "reduced";
  std::int64_t events = 0;
  for (const BreakSite& site : sites) events += site.occurrences;
  const auto distinct = static_cast<std::int64_t>(sites.size());
  result.graphs = distinct + 1;
  result.breaks = events;
  result.break_sites = distinct;
  result.unique_reasons = distinct;
  result.dynamo_counter_breaks = result.explain_breaks = distinct;
  result.ops_captured = 42;
  result.frames_total = 1;
  result.frames_fallback = result.recompiles = result.unexplained_events = 0;
  result.phase_s = {{"create", 0.25}, {"capture", 0.5}};
  result.capture_s = 0.75;
  result.sites = std::move(sites);
  return result;
}

inline CaptureResult FailedCapture(Status status, const std::string& detail) {
  CaptureResult result;
  result.status = status;
  result.detail = detail;
  result.phase = "capture";
  return result;
}

// With running captures, Wait ends the oldest and moves the clock by `capture_takes`, at most to `until`. Without, it
// reports `wake_fd`, or moves the clock to a finite `until`, or waits for the descriptor for a bounded time.
class FakeCaptureRunner : public CaptureRunner {
 public:
  explicit FakeCaptureRunner(FakeClock& clock, std::size_t capacity = 2) : clock_(clock), capacity_(capacity) {}

  std::size_t Capacity() const override { return capacity_ - running_.size(); }

  Result<void> Start(const CaptureJob& job) override {
    if (unable_) return *unable_;
    if (on_start) on_start(job);
    started.push_back(job);
    running_.push_back({job, clock_.Steady(), capture_takes});
    return {};
  }

  Waited Wait(SteadyTime until, int wake_fd) override {
    if (on_wait) on_wait();
    if (Readable(wake_fd, 0)) return {std::nullopt, true};
    if (running_.empty()) {
      if (until != SteadyTime::max()) {
        clock_.AdvanceTo(until);
        return {};
      }
      return {std::nullopt, Readable(wake_fd, 20'000)};
    }
    const SteadyTime ends = running_.front().began + running_.front().takes;
    if (ends > until) {
      clock_.AdvanceTo(until);
      return {};
    }
    clock_.AdvanceTo(ends);
    const Running ended = running_.front();
    running_.pop_front();
    return {Finish(ended.job, ended.takes), false};
  }

  std::vector<std::string> StopAll() override {
    std::vector<std::string> ids;
    for (const Running& running : running_) ids.push_back(running.job.id);
    running_.clear();
    ++stops;
    return ids;
  }

  std::optional<WorkerCounts> Workers() const override { return workers; }

  // The results of captures of `model`, the last of them for all further captures. Models without a script are clean.
  void Script(const std::string& model, CaptureResult result) { script_[model].push_back(std::move(result)); }
  // Replaces what is left of the model's script.
  void Rescript(const std::string& model, CaptureResult result) { script_[model] = {std::move(result)}; }
  void FailToStart(Error error) { unable_ = std::move(error); }
  void StartAgain() { unable_.reset(); }
  int StartsOf(const std::string& model) const {
    int n = 0;
    for (const CaptureJob& job : started) n += job.model == model;
    return n;
  }

  std::vector<CaptureJob> started;
  int stops = 0;
  std::optional<WorkerCounts> workers;
  std::chrono::milliseconds capture_takes{1000};
  std::function<void()> on_wait;                        // before each Wait: commands from "outside"
  std::function<void(const CaptureJob& job)> on_start;  // called before it starts; may set `capture_takes`
  Toolchain toolchain;                                  // in every result

 private:
  struct Running {
    CaptureJob job;
    SteadyTime began;
    std::chrono::milliseconds takes;
  };

  static bool Readable(int fd, int timeout_ms) {
    pollfd poll_fd{fd, POLLIN, 0};
    return fd >= 0 && poll(&poll_fd, 1, timeout_ms) > 0;
  }

  CaptureResult Finish(const CaptureJob& job, std::chrono::milliseconds takes) {
    auto& queue = script_[job.model];
    CaptureResult result = queue.empty() ? GoodCapture() : queue.front();
    if (queue.size() > 1) queue.pop_front();
    result.job_id = job.id;
    result.mode = job.mode;
    result.toolchain = toolchain;
    result.started_at = clock_.Now() - takes;
    result.wall_s = std::chrono::duration<double>(takes).count();
    return result;
  }

  FakeClock& clock_;
  std::size_t capacity_;
  std::deque<Running> running_;
  std::map<std::string, std::deque<CaptureResult>> script_;
  std::optional<Error> unable_;
};

}  // namespace breakwatch::fakes
