#include <algorithm>
#include <deque>
#include <utility>

#include "breakwatch/engine/delivery.h"
#include "event_channel.h"
#include "metric_channel.h"

namespace breakwatch::engine {

class DeliveryPump::Impl {
 public:
  Impl(OpenEventLog open_log, store::EventLog* log, const Clock& clock, DeliveryOptions options)
      : options_(std::move(options)), clock_(clock), open_log_(std::move(open_log)), log_(log) {}

  SteadyTime Step() {
    SteadyTime next = SteadyTime::max();
    for (MetricChannel& channel : metrics) next = std::min(next, channel.Step(clock_, stats_of_all));
    if (!events.empty()) next = std::min(next, StepEvents());
    return next;
  }

  std::vector<DeliveryStats> Stats() const {
    std::vector<DeliveryStats> stats;
    for (const MetricChannel& channel : metrics) stats.push_back(channel.stats());
    for (const EventChannel& channel : events) stats.push_back(channel.stats());
    return stats;
  }

  // Names of required exporters with a channel for which `is` is true.
  template <class Is>
  std::vector<std::string> Names(Is is) const {
    std::vector<std::string> names;
    const auto collect = [&](const auto& channels) {
      for (const auto& channel : channels) {
        if (channel.required() && is(channel)) names.push_back(channel.stats().exporter);
      }
    };
    collect(metrics);
    collect(events);
    return names;
  }

  const DeliveryOptions& options() const { return options_; }
  void Hurry() {
    for (MetricChannel& channel : metrics) channel.Hurry();
    for (EventChannel& channel : events) channel.Hurry();
    open_due_ = SteadyTime{};
  }

  void AddEvents(std::unique_ptr<EventExporter> exporter, EventDelivery how) {
    events.emplace_back(std::move(exporter), how, options_);
    if (!how.from_beginning) events.back().StartAt(clock_.Now());
  }

  std::deque<MetricChannel> metrics;  // deque: references to channels stay valid
  std::deque<EventChannel> events;
  std::function<std::vector<DeliveryStats>()> stats_of_all = [this] { return Stats(); };

 private:
  SteadyTime StepEvents() {
    SteadyTime next = SteadyTime::max();
    if (auto opened = Open(); !opened) {
      // Makes one attempt on every channel; the channels keep their own pauses.
      for (EventChannel& channel : events) {
        channel.StoreFailed(opened.error(), clock_.Steady());
        next = std::min(next, channel.Due());
      }
      open_due_ = next;
      return next;
    }
    if (log_ == nullptr) return open_due_;
    for (EventChannel& channel : events) next = std::min(next, channel.Step(*log_, clock_));
    return next;
  }

  // Does nothing without a log before the next attempt is due. This is not an error.
  Result<void> Open() {
    if (log_ != nullptr || clock_.Steady() < open_due_) return {};
    auto opened = open_log_();
    if (!opened) return opened.error();
    owned_ = *std::move(opened);
    log_ = owned_.get();
    return {};
  }

  const DeliveryOptions options_;
  const Clock& clock_;
  OpenEventLog open_log_;
  std::unique_ptr<store::EventLog> owned_;
  store::EventLog* log_;
  SteadyTime open_due_{};
};

DeliveryPump::DeliveryPump(store::EventLog& log, const Clock& clock, DeliveryOptions options)
    : impl_(std::make_unique<Impl>(OpenEventLog(), &log, clock, std::move(options))) {}
DeliveryPump::DeliveryPump(OpenEventLog open_log, const Clock& clock, DeliveryOptions options)
    : impl_(std::make_unique<Impl>(std::move(open_log), nullptr, clock, std::move(options))) {}
DeliveryPump::~DeliveryPump() = default;

void DeliveryPump::Add(std::unique_ptr<MetricExporter> exporter, bool required) {
  impl_->metrics.emplace_back(std::move(exporter), required, impl_->options());
}
void DeliveryPump::Add(std::unique_ptr<EventExporter> exporter, EventDelivery how) {
  impl_->AddEvents(std::move(exporter), how);
}
void DeliveryPump::ShowStatsOf(std::function<std::vector<DeliveryStats>()> all) {
  impl_->stats_of_all = std::move(all);
}
void DeliveryPump::SetSnapshot(SnapshotPtr snapshot, bool urgent) {
  for (MetricChannel& channel : impl_->metrics) channel.Offer(snapshot, urgent);
}
SteadyTime DeliveryPump::Step() { return impl_->Step(); }
void DeliveryPump::Hurry() { impl_->Hurry(); }
std::vector<std::string> DeliveryPump::Pending() const {
  return impl_->Names([](const auto& channel) { return channel.Pending(); });
}
std::vector<std::string> DeliveryPump::Behind() const {
  return impl_->Names([](const auto& channel) { return channel.Pending() || channel.Refused(); });
}
bool DeliveryPump::Proceeds() const {
  const auto proceeds = [](const auto& channel) { return channel.Pending() && !channel.Fails(); };
  return std::ranges::any_of(impl_->metrics, proceeds) || std::ranges::any_of(impl_->events, proceeds);
}
std::vector<DeliveryStats> DeliveryPump::Stats() const { return impl_->Stats(); }

}  // namespace breakwatch::engine
