// Session: builds the parts of a sweep around one loop, for `sweep` and for `serve`.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/core/command.h"
#include "breakwatch/core/progress.h"
#include "breakwatch/engine/delivery.h"
#include "breakwatch/engine/loop.h"
#include "breakwatch/store/store.h"
#include "breakwatch/store/writer_lock.h"

namespace breakwatch::commands {

// Forwards progress to several listeners.
class Fanout final : public ProgressListener {
 public:
  void Add(ProgressListener& listener) { listeners_.push_back(&listener); }
  void OnAccepted(std::string_view command_id, std::string_view sweep_id) override;
  void OnRefused(std::string_view command_id, const Error& error) override;
  void OnListing(int resolved, int total) override;
  void OnPlan(const Plan& plan, std::size_t already_done) override;
  void OnWaiting(std::string_view why) override;
  void OnStarted(std::string_view model) override;
  void OnResult(const ModelResult& result, std::size_t done, std::size_t total) override;
  void OnFinished(const Sweep& sweep) override;
  void OnFailed(const Error& error) override;
  void OnServed(std::string_view command_id, const Error* error) override;
  void OnWarning(std::string_view text) override;

 private:
  std::vector<ProgressListener*> listeners_;
};

// Makes the options of the loop from the settings, at the start and at each reload.
Result<engine::LoopOptions> MakeLoopOptions(const App& app, const Settings& settings);
// The same for the daemon, which stops its zygotes between sweeps.
Result<engine::LoopOptions> DaemonOptions(const App& app, const Settings& settings);

// Owner: a command, on the thread that runs the loop.
class Session {
 public:
  enum class Use { kOneSweep, kDaemon };

  // Takes the writer lock and opens all parts. `progress` and `app` must outlive it.
  // Error: kStore if another writer holds the lock, or the error of a part.
  static Result<std::unique_ptr<Session>> Open(App& app, ProgressListener& progress, Use use = Use::kOneSweep);
  ~Session();

  engine::Loop& loop() { return *loop_; }
  CommandQueue& commands() { return commands_; }
  SnapshotPtr LatestSnapshot() const;           // null before the first. Thread: any
  std::vector<DeliveryStats> Delivery() const;  // as it is now. Thread: any
  WorkersOfAll Workers() const;                 // of a daemon, at the newest snapshot. Thread: any
  // Waits until the required exporters accepted everything, until delivery.drain_timeout (or `timeout`), or until a
  // stop request. Returns the exporters that did not accept everything. Thread: any.
  std::vector<std::string> Drain(std::stop_token stop = {});
  std::vector<std::string> Drain(std::chrono::milliseconds timeout, std::stop_token stop = {});
  // The end of a command: drains, stores the events that other threads queued after the loop's last iteration, and
  // pushes the state of delivery again, because what was pushed when the sweep ended counts the sweep's own events as
  // pending. A stop that was requested before ended the sweep only. Returns as Drain. Thread: the loop's, after it
  // ended.
  std::vector<std::string> DeliverRest(std::stop_token stop);
  // Removes delivered events of old sweeps. Thread: the loop's.
  void TrimEvents(int keep_sweeps);
  // Error: the state directory or the store was removed or replaced, so this process must stop. Thread: any.
  Result<void> Held() const;
  // Called for kReload on the loop.
  void OnReload(std::function<Result<engine::LoopOptions>()> reload) { reload_ = std::move(reload); }

 private:
  Session(App& app, store::WriterLock lock) : app_(app), lock_(std::move(lock)) {}
  Result<void> Assemble(ProgressListener& progress, Use use);
  Result<engine::FurtherToolchain> OpenToolchain(const ToolchainRef& ref);
  void StoreLateEvents(const std::stop_token& stop);
  void PublishDelivery(const std::stop_token& stop);

  App& app_;
  store::WriterLock lock_;
  CommandQueue commands_;
  std::function<Result<engine::LoopOptions>()> reload_;
  mutable std::mutex snapshot_mutex_;
  SnapshotPtr snapshot_;
  WorkersOfAll workers_;  // of a daemon; guarded like snapshot_
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<ModelLister> lister_;
  std::unique_ptr<CaptureRunner> runner_;
  std::map<ToolchainRef, std::unique_ptr<CaptureRunner>> further_;
  std::vector<std::string> event_exporters_;  // names
  std::atomic<bool> is_last_push_ = false;    // after everything was delivered: its failure is no news
  std::unique_ptr<engine::DeliveryThreads> delivery_;
  std::unique_ptr<engine::Loop> loop_;
};

}  // namespace breakwatch::commands
