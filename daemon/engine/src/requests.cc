#include "requests.h"

#include <algorithm>
#include <utility>

namespace breakwatch::engine {
namespace {

bool ByName(const SweepRequest& request) { return !request.resume && !request.saved_plan && !request.list.ids.empty(); }

// The more thorough of the two: always, if-needed, never.
Rebuild MoreThorough(Rebuild a, Rebuild b) {
  for (const Rebuild rebuild : {Rebuild::kAlways, Rebuild::kIfNeeded}) {
    if (a == rebuild || b == rebuild) return rebuild;
  }
  return Rebuild::kNever;
}

void AddMissing(std::vector<std::string>& to, std::vector<std::string> from) {
  for (std::string& text : from) {
    if (std::find(to.begin(), to.end(), text) == to.end()) to.push_back(std::move(text));
  }
}

}  // namespace

bool SameModels(const SweepRequest& a, const SweepRequest& b) {
  if (a.saved_plan || b.saved_plan) return false;
  return a.toolchain == b.toolchain && a.measure == b.measure && a.resume == b.resume && (a.resume || a.list == b.list);
}

bool Requests::Add(SweepRequest request, const std::string& command_id) {
  auto same = std::find_if(waiting_.begin(), waiting_.end(), [&](const Request& other) {
    return SameModels(other.sweep, request) ||
           (ByName(other.sweep) && ByName(request) && other.sweep.track == request.track &&
            other.sweep.toolchain == request.toolchain && other.sweep.measure == request.measure);
  });
  if (same == waiting_.end()) {
    if (waiting_.size() >= kMax) return false;
    same = waiting_.insert(waiting_.end(), Request{std::move(request)});
  } else {
    SweepRequest& merged = same->sweep;
    merged.rebuild = MoreThorough(merged.rebuild, request.rebuild);
    merged.track = merged.track || request.track;
    AddMissing(merged.list.ids, std::move(request.list.ids));
    AddMissing(merged.modes, std::move(request.modes));
  }
  if (command_id.empty()) {
    same->own = true;
  } else {
    same->commands.push_back(command_id);
  }
  return true;
}

bool Requests::Cancel(const std::string& command_id) {
  for (auto request = waiting_.begin(); request != waiting_.end(); ++request) {
    if (std::erase(request->commands, command_id) == 0) continue;
    if (request->commands.empty() && !request->own) waiting_.erase(request);
    return true;
  }
  return false;
}

std::optional<Request> Requests::Next() {
  if (waiting_.empty()) return std::nullopt;
  Request next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

}  // namespace breakwatch::engine
