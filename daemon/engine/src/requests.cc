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

}  // namespace

bool SameModels(const SweepRequest& a, const SweepRequest& b) {
  if (a.saved_plan || b.saved_plan) return false;
  return a.resume == b.resume && (a.resume || a.list == b.list);
}

bool Requests::Add(SweepRequest request, const std::string& command_id) {
  auto same = std::find_if(waiting_.begin(), waiting_.end(), [&](const Request& other) {
    return SameModels(other.sweep, request) ||
           (ByName(other.sweep) && ByName(request) && other.sweep.track == request.track);
  });
  if (same == waiting_.end()) {
    if (waiting_.size() >= kMax) return false;
    same = waiting_.insert(waiting_.end(), Request{std::move(request)});
  } else {
    SweepRequest& merged = same->sweep;
    merged.rebuild = MoreThorough(merged.rebuild, request.rebuild);
    merged.track = merged.track || request.track;
    auto& ids = merged.list.ids;
    for (std::string& id : request.list.ids) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(std::move(id));
    }
  }
  if (command_id.empty()) {
    same->own = true;
  } else {
    same->commands.push_back(command_id);
  }
  return true;
}

std::optional<Request> Requests::Next() {
  if (waiting_.empty()) return std::nullopt;
  Request next = std::move(waiting_.front());
  waiting_.pop_front();
  return next;
}

}  // namespace breakwatch::engine
