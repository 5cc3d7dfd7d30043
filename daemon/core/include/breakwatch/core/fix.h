// Fixes: changes that a user can make to remove graph breaks, tried in captures. The options of mode `fix`, and what a
// worker found in it. Times are wall seconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

struct FixOptions {
  std::vector<std::string> names{};  // of fixes.yaml; empty: all that apply to the model
  bool combine = true;               // also try combinations of those that help
  double budget_s = 600;             // for all attempts of a model
  double attempt_s = 120;            // for one attempt

  bool operator==(const FixOptions&) const = default;
};

// Whether these can be names of fixes. `option`: how the one who gave them calls them. Error: kUsage.
Result<void> CheckFixNames(const std::vector<std::string>& names, const std::string& option);
// Error: kUsage, naming the option and the values that it accepts.
Result<void> CheckFix(const FixOptions& options);
// The protocol's `fix` object: equal options give equal bytes.
std::string FixJson(const FixOptions& options);
// Missing fields keep their defaults. Error: kUsage for an unknown field or a wrong value.
Result<FixOptions> FixOptionsFromJson(std::string_view text, FixOptions defaults = {});

struct FixCounts {
  std::int64_t breaks = 0, sites = 0, graphs = 0, ops = 0;
};

// One fix, or several together.
struct FixAttempt {
  std::vector<std::string> names;
  std::vector<std::string> kinds;    // of setting call regions: what a user changes; empty in results of old workers
  std::string status;                // ok failed timeout crashed out_of_memory unsupported unknown
  std::string detail;                // empty if there is nothing to say
  std::string outcome;               // whole better same worse different_result; empty unless ok
  std::optional<FixCounts> after;    // only if ok
  std::vector<std::string> removed;  // BreakSite::site_id of the sites that are gone with it; only if ok
  std::vector<std::string> python;   // the lines that a user writes
  std::string caution;               // what these lines also change; may be empty
  std::optional<double> max_abs;     // largest difference of the outputs; nullopt: not compared
  std::optional<double> seconds;

  bool Helps() const { return outcome == "whole" || outcome == "better"; }
  // Only parts of the model are compiled: what lies between them still breaks.
  bool IsPartial() const { return std::find(kinds.begin(), kinds.end(), "regions") != kinds.end(); }
  std::string Name() const;  // "capture_scalar_outputs + use_cache"
};

// A break site that no attempt removed.
struct UnfixedSite {
  BreakSite site;     // site_id, reason, gb_id, file, line, function, stack, explanation, hints
  std::string owner;  // whose code it is: user library torch
};

struct TriedFixes {
  std::vector<std::string> chosen;  // the fixes that were to be tried, by name; empty: all that apply
  FixCounts before;
  std::vector<FixAttempt> attempts;  // in the order tried
  std::size_t best = SIZE_MAX;       // the attempt to recommend; SIZE_MAX: none helped
  std::vector<UnfixedSite> left;
  std::vector<std::pair<std::string, std::string>> not_applicable;  // fix, why
  std::string stopped;                                              // "budget" if not all were tried

  const FixAttempt* Best() const { return best < attempts.size() ? &attempts[best] : nullptr; }
};

// Reads CaptureResult::mode_detail_json of mode `fix`. Long texts are cut, as they come from a worker.
// Error: kInvalid, naming the field.
Result<TriedFixes> ReadTriedFixes(std::string_view mode_detail_json);

}  // namespace breakwatch
