#include "stored_state.h"

#include <algorithm>
#include <map>
#include <utility>

#include "breakwatch/core/text.h"
#include "breakwatch/engine/aggregate.h"
#include "delivery_options.h"

namespace breakwatch::commands {
namespace {

constexpr std::chrono::seconds kLookEvery{5};

// Changes when a sweep begins or ends.
Result<std::string> MarkOf(store::Store& store) {
  const auto newest = store.Sweeps(1);
  if (!newest) return newest.error();
  if (newest->empty()) return std::string("none");
  const Sweep& sweep = newest->front();
  return sweep.id + " " + std::string(SweepStateName(sweep.state)) + " " + FormatTime(sweep.finished_at);
}

engine::AggregateOptions OptionsOf(const Settings& settings) {
  return {.unranked_sweeps = settings.retention.unranked_sweeps,
          .extra = settings.metrics.extra,
          .metrics = {settings.metrics.drop, settings.metrics.phases}};
}

}  // namespace

SnapshotPtr StoredState::Held() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

Result<void> StoredState::Read(store::Store& store) {
  auto mark = MarkOf(store);
  if (!mark) return mark.error();
  if (*mark == mark_) return {};
  const auto loaded = engine::LoadAggregate(store, OptionsOf(app_.settings()));
  if (!loaded) return loaded.error();
  auto snapshot = std::make_shared<Snapshot>(loaded->aggregate.MakeSnapshot(app_.clock->Now()));
  mark_ = *std::move(mark);
  const std::lock_guard lock(mutex_);
  snapshot_ = std::move(snapshot);
  return {};
}

Result<void> StoredState::Load() {
  const std::lock_guard lock(reading_);
  auto store = Open();
  if (!store) return store.error();
  looked_at_ = app_.clock->Steady();
  return Read(**store);
}

SnapshotPtr StoredState::Latest() {
  const std::unique_lock lock(reading_, std::try_to_lock);
  if (!lock || (looked_at_ && app_.clock->Steady() - *looked_at_ < kLookEvery)) return Held();
  looked_at_ = app_.clock->Steady();
  auto store = Open();
  const auto read = store ? Read(**store) : Result<void>(store.error());
  if (!read) app_.log(Level::kWarn, "the store cannot be read again: " + read.error().message);
  return Held();
}

std::vector<DeliveryStats> StoredState::Delivery() const {
  auto store = Open();
  if (!store) return {};
  const auto states = (*store)->DeliveryStates();
  const auto newest = (*store)->NewestEventId();
  if (!states || !newest) return {};
  std::map<std::string, DeliveryStats> by_name;
  for (const std::string& name : EventExporters(app_.settings())) {
    by_name[name].exporter = name;
    by_name[name].events_pending = *newest;
  }
  for (const store::DeliveryState& state : *states) {
    DeliveryStats& stats = by_name[state.exporter];
    stats.exporter = state.exporter;
    stats.events_pending = std::max<std::int64_t>(0, *newest - state.cursor) + state.queued;
    stats.dead_letters = state.dead_letters;
    stats.paused = !state.paused.empty();
    stats.last_failure = state.paused_at;
  }
  std::vector<DeliveryStats> out;
  for (auto& [name, stats] : by_name) out.push_back(std::move(stats));
  return out;
}

}  // namespace breakwatch::commands
