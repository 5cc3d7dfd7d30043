// Findings: the merged records of all processes of one rank, and their conversion to a result.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/capture.h"
#include "record_reader.h"

namespace breakwatch::trace {

struct Failure {
  std::string compile_id, type, reason;
};

struct Findings {
  std::optional<std::int64_t> rank;  // nullopt: the job had no ranks
  std::int64_t processes = 0;        // files
  ReadCounts read;

  std::int64_t breaks = 0, graphs = 0, skips = 0;  // skips: frames reported as skipped, without a break
  std::vector<BreakSite> sites;                    // in the order of first occurrence
  std::int64_t sites_total = 0;                    // not reduced by DropSites
  std::int64_t compiles = 0, ended = 0, recompiles = 0;
  std::int64_t fallbacks = 0;  // compilations that ended without code
  std::optional<std::int64_t> ops;
  bool knows_code = true;        // every compilation reports whether it produced code
  std::int64_t unexplained = 0;  // restarts for a break that was not logged
  double compile_s = 0, backend_s = 0, inductor_s = 0;
  std::optional<double> started_s;  // since 1970
  std::vector<GraphSegment> segments;
  std::map<std::string, std::int64_t> recompile_reasons;
  std::vector<Failure> failures;  // the first ones
  std::int64_t failures_total = 0, hard_failures = 0;
  std::int64_t suppressed = 0;  // errors hidden by suppress_errors: the frame ran eagerly
  Failure first_suppressed;
  std::string error;  // traceback of the first hard failure
  std::string torch, python;
  std::map<std::string, std::vector<std::int64_t>> other_ranks;  // by site_id: sites that only other ranks have

  void AddBreak(BreakSite event);
  // Adds a site of another rank, with its breaks, if this rank does not have it. Returns true if it was added.
  bool AddSiteOf(const BreakSite& site, std::int64_t of_rank);
  // Records what Dynamo did with the frame of a known site.
  void Wrap(const std::string& site_id, std::string_view wrapped_in);
  void AddFailure(Failure failure, bool hard, std::string traceback);
  void AddRecompileReason(std::string reason);
  bool SameNumbers(const Findings& other) const;
  void DropSites();  // for a rank that is only compared: keeps its numbers

 private:
  std::map<std::string, std::size_t, std::less<>> places_;  // by site_id
};

// Sets everything except mode_detail_json and the differences between ranks.
CaptureResult ToCapture(const Findings& findings);
// "4 breaks at 3 sites, 2 graphs": for details and comparisons.
std::string Summary(const Findings& findings);
// "BackendCompilerFailed in 0/0: <reason>", one line.
std::string FailureText(const Failure& failure);

}  // namespace breakwatch::trace
