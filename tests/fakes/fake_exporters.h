// Exporters that store what they received and answer as scripted, otherwise with "delivered".
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/exporters.h"

namespace breakwatch::fakes {

class FakeMetricExporter : public MetricExporter {
 public:
  explicit FakeMetricExporter(std::string name = "fake-metrics") : name_(std::move(name)) {}

  std::string Name() const override { return name_; }
  Outcome Export(const Snapshot& snapshot) override {
    ++attempts;
    Outcome outcome = down ? Outcome{Delivery::kTryAgain, "away", {}} : Outcome{};
    if (!answers.empty()) outcome = answers.front(), answers.pop_front();
    if (outcome.delivery == Delivery::kDelivered) delivered.push_back(snapshot), lost = false;
    return outcome;
  }
  TargetCheck CheckTarget() override { return {lost, std::exchange(notice, "")}; }
  std::optional<std::chrono::milliseconds> RepeatEvery() const override { return repeat_every; }

  int attempts = 0;
  bool down = false;  // every answer is kTryAgain
  bool lost = false;
  std::string notice;  // of the next check
  std::optional<std::chrono::milliseconds> repeat_every;
  std::deque<Outcome> answers;
  std::vector<Snapshot> delivered;

 private:
  std::string name_;
};

class FakeEventExporter : public EventExporter {
 public:
  explicit FakeEventExporter(std::string name = "fake-events") : name_(std::move(name)) {}

  std::string Name() const override { return name_; }
  Outcome Export(std::span<const StoredEvent> batch) override {
    ++attempts;
    if (down) return {Delivery::kTryAgain, "away", {}};
    if (!answers.empty()) {
      const Outcome outcome = answers.front();
      answers.pop_front();
      if (outcome.delivery != Delivery::kDelivered) return outcome;
    }
    if (batch.size() > largest) return {.delivery = Delivery::kTryAgain, .detail = "too many", .smaller = true};
    for (const StoredEvent& event : batch) {
      if (poison && poison(event)) {
        return {Delivery::kRefused, "refused event " + std::to_string(event.id), {}, names_events};
      }
    }
    Outcome outcome;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (named && named(batch[i])) {
        outcome.refused.push_back({i, "refused " + std::to_string(batch[i].id)});
      } else {
        delivered.push_back(batch[i]);
      }
    }
    return outcome;
  }

  int attempts = 0;
  bool down = false;  // every answer is kTryAgain
  std::deque<Outcome> answers;
  std::function<bool(const StoredEvent&)> named;   // such events are refused by name, the rest of the batch is stored
  std::function<bool(const StoredEvent&)> poison;  // a batch with such an event is rejected completely
  std::size_t largest = SIZE_MAX;                  // a longer batch is to be tried again in smaller parts
  bool names_events = false;                       // whether such an answer names single events
  std::vector<StoredEvent> delivered;

 private:
  std::string name_;
};

}  // namespace breakwatch::fakes
