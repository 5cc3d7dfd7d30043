#include "breakwatch/api/request_log.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "json_values.h"
#include "problem.h"

namespace breakwatch::api {
namespace {

using nlohmann::ordered_json;

std::string Dump(const ordered_json& document) { return JsonDocument(document, 1); }

}  // namespace

RequestLog::RequestLog(const Clock& clock, ControlSocket::Drain drain, ExitCode exit_code)
    : clock_(clock),
      drain_(std::move(drain)),
      exit_code_(std::move(exit_code)),
      life_(CompactTime(clock.Now())),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}
RequestLog::~RequestLog() = default;

std::optional<std::string> RequestLog::Add(Kind kind, bool by_name) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= kMax) {
    const auto ended =
        std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return HasEnded(entry.state); });
    if (ended == entries_.end()) return std::nullopt;
    entries_.erase(ended);
  }
  Entry entry{.id = "api-" + life_ + "-" + std::to_string(++added_), .kind = kind, .by_name = by_name};
  entry.asked_at = clock_.Now();
  entries_.push_back(std::move(entry));
  return entries_.back().id;
}

void RequestLog::Withdraw(const std::string& id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.id == id; });
}

RequestLog::Cancelled RequestLog::Cancel(const std::string& id) {
  const std::lock_guard lock(mutex_);
  Entry* entry = Of(id);
  if (entry == nullptr) return Cancelled::kUnknown;
  if (HasEnded(entry->state) || entry->state == State::kDelivering) return Cancelled::kTooLate;
  entry->cancelled = true;
  return Cancelled::kYes;
}

RequestLog::Entry* RequestLog::Of(std::string_view id) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.id == id; });
  return found == entries_.end() ? nullptr : &*found;
}

void RequestLog::OnAccepted(std::string_view command_id, std::string_view sweep_id) {
  const std::lock_guard lock(mutex_);
  Entry* entry = Of(command_id);
  if (entry == nullptr || entry->state != State::kQueued) return;  // the sweep of a further toolchain
  entry->state = State::kRunning;
  entry->sweep_id = sweep_id;
  entry->began_at = clock_.Now();
}

void RequestLog::OnRefused(std::string_view command_id, const Error& error) {
  const std::lock_guard lock(mutex_);
  Entry* entry = Of(command_id);
  if (entry == nullptr) return;
  entry->outcome.error = error;
  Conclude(*entry);
}

void RequestLog::OnFinished(const Sweep& sweep) {
  const std::lock_guard lock(mutex_);
  for (Entry& entry : entries_) {
    if (entry.state == State::kRunning) entry.outcome.sweeps.push_back(sweep);
  }
}

void RequestLog::OnServed(std::string_view command_id, const Error* error) {
  const std::lock_guard lock(mutex_);
  Entry* entry = Of(command_id);
  if (entry == nullptr || HasEnded(entry->state)) return;  // already refused
  if (error != nullptr) entry->outcome.error = *error;
  if (entry->outcome.sweeps.empty()) return Conclude(*entry);
  entry->state = State::kDelivering;
  changed_.notify_one();
}

// Call it with the mutex held.
void RequestLog::Conclude(Entry& entry) {
  const Followed& outcome = entry.outcome;
  const bool failed = outcome.error && outcome.sweeps.empty();
  entry.exit_code = exit_code_(outcome, entry.by_name);
  entry.ended_at = clock_.Now();
  const bool cancelled = failed && entry.cancelled && outcome.error->code == ErrorCode::kInterrupted;
  entry.state = cancelled ? State::kCancelled : failed ? State::kFailed : State::kDone;
}

// Waits for the exporters without the mutex, because the loop continues.
void RequestLog::Run(const std::stop_token& stop) {
  const auto is_delivering = [](const Entry& entry) { return entry.state == State::kDelivering; };
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return std::any_of(entries_.begin(), entries_.end(), is_delivering); })) {
    std::vector<std::string> ids;
    for (const Entry& entry : entries_) {
      if (is_delivering(entry)) ids.push_back(entry.id);
    }
    lock.unlock();
    const std::vector<std::string> behind = drain_(stop);
    lock.lock();
    for (const std::string& id : ids) {
      Entry* entry = Of(id);
      entry->outcome.behind = behind;
      Conclude(*entry);
    }
  }
}

std::string RequestLog::Json(const Entry& entry) {
  static constexpr const char* kStates[] = {"queued", "running", "running", "done", "failed", "cancelled"};
  const bool ended = HasEnded(entry.state);
  ordered_json sweeps = ordered_json::array();
  for (const Sweep& sweep : entry.outcome.sweeps) sweeps.push_back(sweep.id);
  ordered_json out = {{"id", entry.id},
                      {"kind", entry.kind == Kind::kSweep ? "sweep" : "reload"},
                      {"state", kStates[static_cast<int>(entry.state)]},
                      {"requested_at", TimeOrNull(entry.asked_at)},
                      {"started_at", TimeOrNull(entry.began_at)},
                      {"finished_at", TimeOrNull(entry.ended_at)},
                      {"sweep_id", entry.sweep_id.empty() ? ordered_json() : ordered_json(entry.sweep_id)},
                      {"sweeps", std::move(sweeps)},
                      {"exporters_behind", entry.outcome.behind},
                      {"exit_code", ended ? ordered_json(entry.exit_code) : ordered_json()}};
  if (const auto& error = entry.outcome.error)
    out["error"] = {{"code", CodeName(error->code)}, {"message", error->message}};
  return Dump(out);
}

std::optional<std::string> RequestLog::Find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.id == id) return Json(entry);
  }
  return std::nullopt;
}

std::string RequestLog::List() const {
  const std::lock_guard lock(mutex_);
  ordered_json list = ordered_json::array();
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    list.push_back(ordered_json::parse(Json(*entry)));
  }
  return Dump({{"requests", std::move(list)}});
}

}  // namespace breakwatch::api
