#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "breakwatch/engine/delivery.h"

namespace breakwatch::engine {
namespace {

// The maximum time between two polls, because another process may have stored events.
constexpr std::chrono::milliseconds kLongestWait{5000};

}  // namespace

class DeliveryThread::Impl {
 public:
  Impl(OpenEventLog open_log, Exporters exporters, const Clock& clock, DeliveryOptions options)
      : clock_(clock), pump_(std::move(open_log), clock, std::move(options)) {
    for (auto& [exporter, required] : exporters.metrics) {
      if (required) required_.push_back(exporter->Name());
      pump_.Add(std::move(exporter), required);
    }
    for (auto& [exporter, how] : exporters.events) {
      if (how.required) required_.push_back(exporter->Name());
      pump_.Add(std::move(exporter), how);
    }
    stats_ = pump_.Stats();
    thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  }

  ~Impl() {
    thread_.request_stop();
    thread_.join();
  }

  void Publish(SnapshotPtr snapshot, bool urgent) {
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(snapshot);
    urgent_ = urgent_ || urgent;
    Wake();
  }

  void NotifyEvents() {
    const std::lock_guard lock(mutex_);
    Wake();
  }

  std::vector<DeliveryStats> Stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

  std::vector<std::string> Drain(std::chrono::milliseconds timeout, std::stop_token stop) {
    std::unique_lock lock(mutex_);
    const std::uint64_t asked = ++drains_asked_;
    Wake();
    const auto drained = [&] { return drains_seen_ >= asked && pending_.empty(); };
    stepped_.wait_for(lock, std::move(stop), timeout, drained);
    // If the thread is still in an earlier send, its state is unknown. All required exporters then count as behind.
    return drains_seen_ >= asked ? behind_ : required_;
  }

 private:
  void Wake() {
    woken_ = true;
    wake_.notify_one();
  }

  void Run(const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "delivery");
    std::uint64_t drains = 0;
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock(mutex_);
        if (snapshot_ != nullptr) pump_.SetSnapshot(std::exchange(snapshot_, nullptr), std::exchange(urgent_, false));
        if (drains_asked_ != drains) drains = drains_asked_, pump_.Hurry();
        woken_ = false;
      }
      const SteadyTime next = pump_.Step();
      std::unique_lock lock(mutex_);
      stats_ = pump_.Stats();
      pending_ = pump_.Pending();
      behind_ = pump_.Behind();
      drains_seen_ = drains;
      stepped_.notify_all();
      const auto pause = next == SteadyTime::max()
                             ? kLongestWait
                             : std::min<std::chrono::nanoseconds>(kLongestWait, next - clock_.Steady());
      wake_.wait_for(lock, stop, pause, [this] { return woken_; });
    }
  }

  const Clock& clock_;
  DeliveryPump pump_;  // used by the thread only, once it runs
  std::vector<std::string> required_;

  mutable std::mutex mutex_;
  std::condition_variable_any wake_, stepped_;
  bool woken_ = false, urgent_ = false;
  SnapshotPtr snapshot_;
  std::uint64_t drains_asked_ = 0, drains_seen_ = 0;
  std::vector<DeliveryStats> stats_;
  std::vector<std::string> pending_, behind_;

  std::jthread thread_;  // last: ends before the objects that it uses
};

DeliveryThread::DeliveryThread(OpenEventLog open_log, Exporters exporters, const Clock& clock, DeliveryOptions options)
    : impl_(std::make_unique<Impl>(std::move(open_log), std::move(exporters), clock, std::move(options))) {}
DeliveryThread::~DeliveryThread() = default;

void DeliveryThread::Publish(SnapshotPtr snapshot, bool urgent) { impl_->Publish(std::move(snapshot), urgent); }
void DeliveryThread::NotifyEvents() { impl_->NotifyEvents(); }
std::vector<DeliveryStats> DeliveryThread::Stats() const { return impl_->Stats(); }
std::vector<std::string> DeliveryThread::Drain(std::chrono::milliseconds timeout, std::stop_token stop) {
  return impl_->Drain(timeout, std::move(stop));
}

}  // namespace breakwatch::engine
