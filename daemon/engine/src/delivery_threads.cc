#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

#include "breakwatch/engine/delivery.h"

namespace breakwatch::engine {
namespace {

// The maximum time between two polls, because another process may have stored events.
constexpr std::chrono::milliseconds kLongestWait{5000};
constexpr std::size_t kMaxThreadName = 15;  // the kernel's

}  // namespace

class DeliveryThreads::Impl {
 public:
  Impl(OpenEventLog open_log, Exporters exporters, const Clock& clock, DeliveryOptions options)
      : open_log_(std::move(open_log)), clock_(clock), options_(std::move(options)) {
    for (auto& [exporter, required] : exporters.metrics) AddLane(std::move(exporter), required, required, false);
    for (auto& [exporter, how] : exporters.events) AddLane(std::move(exporter), how, how.required, true);
    for (auto& lane : lanes_) {
      lane->thread = std::jthread([this, &lane = *lane](const std::stop_token& stop) { Run(lane, stop); });
    }
  }

  ~Impl() {
    for (auto& lane : lanes_) lane->thread.request_stop();  // before the first join, so that they end together
  }

  void Publish(const SnapshotPtr& snapshot, bool urgent) {
    const std::lock_guard lock(mutex_);
    for (auto& lane : lanes_) {
      if (lane->of_events) continue;
      lane->snapshot = snapshot;
      lane->urgent = lane->urgent || urgent;
      lane->Wake();
    }
  }

  void NotifyEvents() {
    const std::lock_guard lock(mutex_);
    for (auto& lane : lanes_) {
      if (lane->of_events) lane->Wake();
    }
  }

  std::vector<DeliveryStats> Stats() const {
    const std::lock_guard lock(mutex_);
    return StatsOfAll();
  }

  std::vector<std::string> Drain(std::chrono::milliseconds timeout, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    const std::uint64_t asked = ++drains_asked_;
    for (auto& lane : lanes_) lane->Wake();
    const auto wait = [&](std::chrono::milliseconds at_most, const auto& is_done) {
      stepped_.wait_for(lock, stop, at_most, [&] { return std::ranges::all_of(lanes_, is_done); });
    };
    const auto began = clock_.Steady();
    const auto has_sent = [&](const auto& lane) { return lane->drains_seen >= asked && lane->pending.empty(); };
    // It did not even see the drain before: its target hangs, and had its time.
    const auto hangs = [&](const auto& lane) { return !lane->required && lane->drains_seen + 1 < asked; };
    wait(std::min(timeout, options_.optional_drain),
         [&](const auto& lane) { return hangs(lane) || (has_sent(lane) && (lane->required || !lane->proceeds)); });
    const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Steady() - began);
    wait(timeout - spent, [&](const auto& lane) { return !lane->required || has_sent(lane); });
    std::vector<std::string> behind;
    for (const auto& lane : lanes_) {
      if (!lane->required) continue;
      // If a thread is still in an earlier send, its state is unknown. Its exporter then counts as behind.
      const auto names = lane->drains_seen >= asked ? lane->behind : std::vector{lane->name};
      behind.insert(behind.end(), names.begin(), names.end());
    }
    return behind;
  }

 private:
  // One exporter and its thread. All but the pump and the constants is guarded by mutex_.
  struct Lane {
    Lane(OpenEventLog open_log, const Clock& clock, DeliveryOptions options)
        : pump(std::move(open_log), clock, std::move(options)) {}
    void Wake() {
      woken = true;
      wake.notify_one();
    }

    std::string name;
    bool required = false, of_events = false;
    DeliveryPump pump;  // used by the thread only, once it runs

    std::condition_variable_any wake;
    bool woken = false, urgent = false, proceeds = false;
    SnapshotPtr snapshot;
    std::uint64_t drains_seen = 0;
    std::vector<DeliveryStats> stats;
    std::vector<std::string> pending, behind;

    std::jthread thread;  // last: ends before the objects that it uses
  };

  template <class Exporter, class How>
  void AddLane(std::unique_ptr<Exporter> exporter, How how, bool required, bool of_events) {
    Lane& lane = *lanes_.emplace_back(std::make_unique<Lane>(open_log_, clock_, options_));
    lane.name = exporter->Name();
    lane.required = required;
    lane.of_events = of_events;
    lane.pump.Add(std::move(exporter), how);
    lane.stats = lane.pump.Stats();
    lane.pump.ShowStatsOf([this, &lane] {
      const std::lock_guard lock(mutex_);
      lane.stats = lane.pump.Stats();
      return StatsOfAll();
    });
  }

  std::vector<DeliveryStats> StatsOfAll() const {
    std::vector<DeliveryStats> all;
    for (const auto& lane : lanes_) all.insert(all.end(), lane->stats.begin(), lane->stats.end());
    return all;
  }

  void Run(Lane& lane, const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), ("send:" + lane.name).substr(0, kMaxThreadName).c_str());
    std::uint64_t drains = 0;
    while (!stop.stop_requested()) {
      {
        const std::lock_guard lock(mutex_);
        if (lane.snapshot != nullptr)
          lane.pump.SetSnapshot(std::exchange(lane.snapshot, nullptr), std::exchange(lane.urgent, false));
        if (drains_asked_ != drains) drains = drains_asked_, lane.pump.Hurry();
        lane.woken = false;
      }
      const SteadyTime next = lane.pump.Step();
      std::unique_lock lock(mutex_);
      lane.stats = lane.pump.Stats();
      lane.pending = lane.pump.Pending();
      lane.behind = lane.pump.Behind();
      lane.proceeds = lane.pump.Proceeds();
      lane.drains_seen = drains;
      stepped_.notify_all();
      const auto pause = next == SteadyTime::max()
                             ? kLongestWait
                             : std::min<std::chrono::nanoseconds>(kLongestWait, next - clock_.Steady());
      lane.wake.wait_for(lock, stop, pause, [&lane] { return lane.woken; });
    }
  }

  const OpenEventLog open_log_;
  const Clock& clock_;
  const DeliveryOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable_any stepped_;
  std::uint64_t drains_asked_ = 0;
  std::vector<std::unique_ptr<Lane>> lanes_;  // last: their threads use the rest
};

DeliveryThreads::DeliveryThreads(OpenEventLog open_log, Exporters exporters, const Clock& clock,
                                 DeliveryOptions options)
    : impl_(std::make_unique<Impl>(std::move(open_log), std::move(exporters), clock, std::move(options))) {}
DeliveryThreads::~DeliveryThreads() = default;

void DeliveryThreads::Publish(const SnapshotPtr& snapshot, bool urgent) { impl_->Publish(snapshot, urgent); }
void DeliveryThreads::NotifyEvents() { impl_->NotifyEvents(); }
std::vector<DeliveryStats> DeliveryThreads::Stats() const { return impl_->Stats(); }
std::vector<std::string> DeliveryThreads::Drain(std::chrono::milliseconds timeout, std::stop_token stop) {
  return impl_->Drain(timeout, std::move(stop));
}

}  // namespace breakwatch::engine
