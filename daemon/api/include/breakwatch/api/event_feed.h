// EventFeed: what happens in running sweeps, as numbered events, and the state of the sweep that runs now.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/progress.h"

namespace breakwatch::api {

struct FeedEvent {
  std::int64_t number = 0;
  std::string name;  // "listing", "planned", "started", "result", "finished", "failed"
  std::string data;  // a JSON object on one line
};

// Owner: `serve`. Thread: any; as a ProgressListener it is called on the loop and never blocks.
class EventFeed final : public ProgressListener {
 public:
  static constexpr std::size_t kKept = 1000;

  explicit EventFeed(const Clock& clock);  // outlives it

  struct Batch {
    std::vector<FeedEvent> events;
    std::int64_t newest = 0;
    bool is_complete = true;  // false: events after the number asked for are no longer kept
  };
  Batch After(std::int64_t number) const;
  // The id of an event, and its number; nullopt: an id of another daemon's life.
  std::string IdOf(std::int64_t number) const;
  std::optional<std::int64_t> NumberOf(std::string_view id) const;
  // {"running": the running sweep or null}, as in the status of the daemon.
  std::string Status() const;
  // Called after each event, on the loop: must not block. Replaces the one before; empty: none.
  void OnChange(std::function<void()> changed);

  void OnAccepted(std::string_view command_id, std::string_view sweep_id) override;
  void OnListing(int resolved, int total) override;
  void OnPlan(const Plan& plan, std::size_t already_done) override;
  void OnStarted(std::string_view model) override;
  void OnResult(const ModelResult& result, std::size_t done, std::size_t total) override;
  void OnFinished(const Sweep& sweep) override;
  void OnFailed(const Error& error) override;

 private:
  struct Running {
    std::string sweep_id, source, toolchain, newest;
    SystemTime started_at{};
    std::size_t done = 0, total = 0, done_before = 0;
    std::map<std::string, std::int64_t> statuses;
  };
  std::optional<double> EtaS() const;
  void Add(std::string name, std::string data);

  const Clock& clock_;
  const std::string life_;
  mutable std::mutex mutex_;
  std::deque<FeedEvent> events_;
  std::int64_t newest_ = 0;
  std::optional<Running> running_;
  std::function<void()> changed_;
};

}  // namespace breakwatch::api
