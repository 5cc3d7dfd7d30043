#include "breakwatch/api/event_feed.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "json_values.h"
#include "problem.h"

namespace breakwatch::api {

using nlohmann::ordered_json;

EventFeed::EventFeed(const Clock& clock) : clock_(clock), life_(CompactTime(clock.Now())) {}

EventFeed::Batch EventFeed::After(std::int64_t number) const {
  const std::lock_guard lock(mutex_);
  Batch batch;
  batch.newest = newest_;
  batch.is_complete = number <= newest_ && (events_.empty() || number + 1 >= events_.front().number);
  for (const FeedEvent& event : events_) {
    if (event.number > number) batch.events.push_back(event);
  }
  return batch;
}

std::string EventFeed::IdOf(std::int64_t number) const { return life_ + "-" + std::to_string(number); }

std::optional<std::int64_t> EventFeed::NumberOf(std::string_view id) const {
  if (!id.starts_with(life_ + "-")) return std::nullopt;
  std::int64_t number = 0;
  const std::string_view digits = id.substr(life_.size() + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool read = parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size() && number >= 0;
  return read ? std::optional(number) : std::nullopt;
}

// By the pace of the sweep so far. The mutex is held.
std::optional<double> EventFeed::EtaS() const {
  if (!running_ || running_->done <= running_->done_before) return std::nullopt;
  const double took = std::chrono::duration<double>(clock_.Now() - running_->started_at).count();
  const auto done = static_cast<double>(running_->done - running_->done_before);
  return took / done * static_cast<double>(running_->total - running_->done);
}

std::string EventFeed::Status() const {
  const std::lock_guard lock(mutex_);
  if (!running_) return R"({"running":null})";
  const Running& r = *running_;
  return JsonText(ordered_json{{"running",
                                {{"sweep_id", r.sweep_id},
                                 {"source", r.source},
                                 {"toolchain", r.toolchain},
                                 {"started_at", TimeOrNull(r.started_at)},
                                 {"done", r.done},
                                 {"total", r.total},
                                 {"statuses", r.statuses},
                                 {"newest", r.newest},
                                 {"eta_s", OrNull(EtaS())}}}});
}

void EventFeed::OnChange(std::function<void()> changed) {
  const std::lock_guard lock(mutex_);
  changed_ = std::move(changed);
}

// The mutex is held.
void EventFeed::Add(std::string name, std::string data) {
  events_.push_back({++newest_, std::move(name), std::move(data)});
  if (events_.size() > kKept) events_.pop_front();
  if (changed_) changed_();
}

void EventFeed::OnAccepted(std::string_view, std::string_view sweep_id) {
  const std::lock_guard lock(mutex_);
  running_ = Running{.sweep_id = std::string(sweep_id), .started_at = clock_.Now()};
}

void EventFeed::OnListing(int resolved, int total) {
  const std::lock_guard lock(mutex_);
  Add("listing", JsonText(ordered_json{{"resolved", resolved}, {"total", total}}));
}

void EventFeed::OnPlan(const Plan& plan, std::size_t already_done) {
  const std::lock_guard lock(mutex_);
  running_ = Running{.sweep_id = plan.sweep_id,
                     .source = plan.source,
                     .toolchain = plan.toolchain.name,
                     .started_at = clock_.Now(),
                     .done = already_done,
                     .total = plan.models.size(),
                     .done_before = already_done};
  Add("planned", JsonText(ordered_json{{"sweep_id", plan.sweep_id},
                                       {"source", plan.source},
                                       {"toolchain", plan.toolchain.name},
                                       {"done", already_done},
                                       {"total", plan.models.size()}}));
}

void EventFeed::OnStarted(std::string_view model) {
  const std::lock_guard lock(mutex_);
  if (running_) running_->newest = model;
  Add("started", JsonText(ordered_json{{"model", model}}));
}

void EventFeed::OnResult(const ModelResult& result, std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  const std::string status(StatusName(result.capture.status));
  if (running_) {
    running_->done = done, running_->total = total, running_->newest = result.info.id;
    ++running_->statuses[status];
  }
  Add("result", JsonText(ordered_json{{"sweep_id", result.sweep_id},
                                      {"model", result.info.id},
                                      {"mode", result.capture.mode},
                                      {"status", status},
                                      {"status_detail", result.capture.detail},
                                      {"breaks", OrNull(result.capture.breaks)},
                                      {"done", done},
                                      {"total", total},
                                      {"eta_s", OrNull(EtaS())}}));
}

void EventFeed::OnFinished(const Sweep& sweep) {
  const std::lock_guard lock(mutex_);
  running_.reset();
  Add("finished",
      JsonText(ordered_json{{"sweep_id", sweep.id}, {"complete", sweep.complete}, {"statuses", sweep.statuses}}));
}

void EventFeed::OnFailed(const Error& error) {
  const std::lock_guard lock(mutex_);
  const std::string sweep_id = running_ ? running_->sweep_id : "";
  running_.reset();
  Add("failed",
      JsonText(ordered_json{{"sweep_id", sweep_id}, {"code", CodeName(error.code)}, {"message", error.message}}));
}

}  // namespace breakwatch::api
