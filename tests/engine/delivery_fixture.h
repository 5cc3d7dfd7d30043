// A pump with exporters that tests control, with a real store and a clock.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "breakwatch/engine/delivery.h"
#include "engine/support.h"
#include "fakes/fake_exporters.h"

namespace breakwatch::engine {

using fakes::FakeEventExporter;
using fakes::FakeMetricExporter;

class DeliveryTest : public ::testing::Test {
 protected:
  DeliveryTest() {
    options_.report = [this](Level, std::string_view exporter, std::string_view text) {
      reports_.push_back(std::string(exporter) + ": " + std::string(text));
    };
  }

  DeliveryPump& Pump() {
    if (!pump_) pump_ = std::make_unique<DeliveryPump>(*store_, clock_, options_);
    return *pump_;
  }
  FakeMetricExporter& AddMetrics(const std::string& name = "metrics", bool required = true) {
    auto exporter = std::make_unique<FakeMetricExporter>(name);
    FakeMetricExporter& kept = *exporter;
    Pump().Add(std::move(exporter), required);
    return kept;
  }
  FakeEventExporter& AddEvents(const std::string& name = "events", EventDelivery how = {}) {
    auto exporter = std::make_unique<FakeEventExporter>(name);
    FakeEventExporter& kept = *exporter;
    Pump().Add(std::move(exporter), how);
    return kept;
  }
  void Store(int n) {
    std::vector<Event> events(static_cast<std::size_t>(n));
    for (Event& event : events) event.name = "tick";
    ASSERT_TRUE(store_->AppendEvents(events).ok());
  }
  // Events that "events" rejected once, all of them queued to be sent again.
  void StoreQueuedLetters(int n) {
    Store(n);
    for (const StoredEvent& event : *store_->EventsAfter(0, n, 1 << 24)) {
      ASSERT_TRUE(store_->BuryEvent("events", event, "old").ok());
    }
    ASSERT_EQ(*store_->QueueDeadLetters({}), n);
  }
  void Publish(const std::string& sweep, bool urgent = false) {
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->sweep.sweep_id = sweep;
    Pump().SetSnapshot(snapshot, urgent);
  }
  // Runs all steps that are due within `time`, and moves the clock to each.
  void Run(std::chrono::nanoseconds time = std::chrono::nanoseconds(0)) {
    const SteadyTime end = clock_.Steady() + std::chrono::duration_cast<SteadyTime::duration>(time);
    for (int i = 0; i < 100'000; ++i) {
      const SteadyTime next = Pump().Step();
      if (next > end) {
        clock_.AdvanceTo(end);
        return;
      }
      clock_.AdvanceTo(next);
    }
    FAIL() << "the pump never rests";
  }
  static std::vector<std::int64_t> Ids(const FakeEventExporter& exporter) {
    std::vector<std::int64_t> ids;
    for (const StoredEvent& event : exporter.delivered) ids.push_back(event.id);
    return ids;
  }
  static std::vector<std::int64_t> UpTo(std::int64_t n) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 1; i <= n; ++i) ids.push_back(i);
    return ids;
  }
  DeliveryStats StatsOf(const std::string& exporter) {
    for (const DeliveryStats& stats : Pump().Stats()) {
      if (stats.exporter == exporter) return stats;
    }
    ADD_FAILURE() << exporter;
    return {};
  }

  TempFolder folder_;
  fakes::FakeClock clock_;
  std::unique_ptr<store::Store> store_ = OpenStoreAt(folder_.Url(), clock_);
  DeliveryOptions options_;
  std::unique_ptr<DeliveryPump> pump_;
  std::vector<std::string> reports_;
};

}  // namespace breakwatch::engine
