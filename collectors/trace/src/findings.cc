#include "findings.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "breakwatch/core/text.h"
#include "breakwatch/trace/read_traces.h"

namespace breakwatch::trace {
namespace {

// Takes the place of a worker's version. A new reader version makes old traces be read again.
constexpr char kReader[] = "trace-reader-3";

constexpr std::size_t kMaxRanks = 128, kMaxSites = 4096, kMaxFailures = 16, kMaxReasons = 64;
constexpr std::size_t kMaxReasonBytes = 500, kMaxErrorBytes = 16u << 10, kMaxDetailBytes = 400;

std::string Headline(const std::string& text) { return ShortLine(FirstLine(text), kMaxDetailBytes); }

Status StatusOf(const Findings& found) {
  if (found.hard_failures > 0) return Status::kFailedCapture;
  if (found.breaks > 0) return Status::kGraphBreaks;
  // With suppress_errors, every compilation failed and the whole job ran eagerly.
  if (found.suppressed > 0 && found.knows_code && found.fallbacks == found.ended) return Status::kFailedCapture;
  // A compilation without a recorded end may have had breaks, so the result is not a full graph.
  return found.ended < found.compiles ? Status::kFailedCapture : Status::kFullGraph;
}

std::string DetailOf(const Findings& found) {
  std::string detail = Summary(found);
  if (found.hard_failures > 0) detail = FailureText(found.failures.front()) + "; " + detail;
  if (found.suppressed > 0) {
    detail +=
        "; " + Counted(found.suppressed, "error") + " suppressed, the first " + FailureText(found.first_suppressed);
  }
  if (found.ended < found.compiles) {
    detail += "; the trace ends inside " + Counted(found.compiles - found.ended, "compilation");
  }
  return detail;
}

}  // namespace

void Findings::AddBreak(BreakSite event) {
  ++breaks;
  const auto known = places_.find(event.site_id);
  if (known != places_.end()) {
    BreakSite& site = sites[known->second];
    ++site.occurrences;
    if (event.wrapped_in.empty()) site.wrapped_in.clear();  // also seen unwrapped: the wrapper does not matter
  } else if (sites.size() < kMaxSites) {
    places_.emplace(event.site_id, sites.size());
    sites.push_back(std::move(event));
    ++sites_total;
  }
}

void Findings::AddFailure(Failure failure, bool hard, std::string traceback) {
  ++failures_total;
  failure.reason = Truncate(ToUtf8(failure.reason), kMaxReasonBytes);
  failure.type = Truncate(ToUtf8(failure.type), 120);
  if (hard && ++hard_failures == 1) {
    error = Truncate(ToUtf8(traceback.empty() ? failure.reason : traceback), kMaxErrorBytes);
    failures.insert(failures.begin(), std::move(failure));
  } else {
    failures.push_back(std::move(failure));
  }
  if (failures.size() > kMaxFailures) failures.pop_back();
}

void Findings::AddRecompileReason(std::string reason) {
  reason = Truncate(ToUtf8(reason), kMaxReasonBytes);
  const auto known = recompile_reasons.find(reason);
  if (known != recompile_reasons.end()) {
    ++known->second;
  } else if (recompile_reasons.size() < kMaxReasons) {
    recompile_reasons.emplace(std::move(reason), 1);
  }
}

void Findings::Wrap(const std::string& site_id, std::string_view wrapped_in) {
  const auto known = places_.find(site_id);
  if (known != places_.end() && sites[known->second].occurrences == 1) sites[known->second].wrapped_in = wrapped_in;
}

bool Findings::AddSiteOf(const BreakSite& site, std::int64_t of_rank) {
  if (const auto known = places_.find(site.site_id); known != places_.end()) {
    const auto shared = other_ranks.find(site.site_id);
    if (shared != other_ranks.end() && shared->second.size() < kMaxRanks) shared->second.push_back(of_rank);
    return false;
  }
  if (sites.size() >= kMaxSites) return false;
  other_ranks[site.site_id] = {of_rank};
  places_.emplace(site.site_id, sites.size());
  sites.push_back(site);
  breaks += site.occurrences;
  ++sites_total;
  return true;
}

void Findings::DropSites() {
  sites = {};
  places_ = {};
  segments = {};
}

bool Findings::SameNumbers(const Findings& other) const {
  const auto numbers = [](const Findings& f) {
    return std::tuple(f.breaks, f.graphs, f.recompiles, f.hard_failures > 0);
  };
  if (numbers(*this) != numbers(other) || sites.size() != other.sites.size()) return false;
  return std::all_of(places_.begin(), places_.end(), [&](const auto& place) {
    const auto it = other.places_.find(place.first);
    return it != other.places_.end() && other.sites[it->second].occurrences == sites[place.second].occurrences;
  });
}

std::string FailureText(const Failure& failure) {
  return Headline(failure.type) + (failure.compile_id.empty() ? "" : " in " + failure.compile_id) + ": " +
         Headline(failure.reason);
}

std::string Summary(const Findings& found) {
  std::string text =
      found.breaks == 0 ? "no breaks" : Counted(found.breaks, "break") + " at " + Counted(found.sites_total, "site");
  text += ", " + Counted(found.graphs, "graph");
  if (found.recompiles > 0) text += ", " + Counted(found.recompiles, "recompile");
  return text;
}

CaptureResult ToCapture(const Findings& found) {
  CaptureResult out;
  out.status = StatusOf(found);
  out.detail = DetailOf(found);
  out.phase = out.status == Status::kFailedCapture ? "capture" : "done";
  out.mode = kImport;
  out.graphs = found.graphs;
  out.breaks = found.breaks;
  out.break_sites = found.sites_total;
  std::set<std::string> reasons;
  for (const BreakSite& site : found.sites) reasons.insert(site.gb_id.empty() ? site.reason : site.gb_id);
  out.unique_reasons = static_cast<std::int64_t>(reasons.size());
  out.ops_captured = found.graphs == 0 ? 0 : found.ops;  // not frames_total: it also counts frames that Dynamo skipped
  if (found.knows_code) out.frames_fallback = found.fallbacks;
  out.recompiles = found.recompiles;
  out.unexplained_events = found.unexplained;
  out.sites = found.sites;
  out.segments = found.segments;
  out.phase_s["capture"] = found.compile_s;
  out.capture_s = found.compile_s;
  out.error = found.error;
  out.toolchain = {kImport, found.torch, "", found.python, kReader, ""};
  if (found.started_s && *found.started_s > 0 && *found.started_s < 4e9) {
    out.started_at = SystemTime(std::chrono::nanoseconds(std::llround(*found.started_s * 1e6) * 1000));
  }
  return out;
}

}  // namespace breakwatch::trace
