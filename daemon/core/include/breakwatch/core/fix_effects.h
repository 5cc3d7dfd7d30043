// FixEffects: what the fixes that were tried on one model did to its break reasons, without the attempts themselves.
// Pure; thread: any.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/fix.h"

namespace breakwatch {

struct ModelResult;

// The fixes that, alone, removed every break event of a reason.
struct ReasonFixes {
  std::string reason, gb_id;
  std::string fixability;               // of its sites together: fixability.h
  std::vector<std::string> removed_by;  // ordered by name; empty: none did
  bool operator==(const ReasonFixes&) const = default;
};

struct FixEffects {
  std::string commit, capture_id;               // of the capture that tried them
  std::vector<std::string> chosen;              // TriedFixes::chosen
  std::string best, outcome;                    // the recommended fixes, "a+b", and their outcome; empty: none helped
  std::map<std::string, std::string> outcomes;  // by fix alone, and by the recommended fixes: whole better same ...
  std::vector<ReasonFixes> reasons;             // ordered by (reason, gb_id): every reason of the model
  std::map<std::string, std::string> sites;     // fixability by BreakSite::site_id

  bool IsWhole() const { return outcome == "whole"; }
  // Null without this reason.
  const ReasonFixes* OfReason(std::string_view reason, std::string_view gb_id) const;
  bool operator==(const FixEffects&) const = default;
};

// `sites`: of the capture without a fix. An attempt that failed or returned another result has no effect, and neither
// has one that compiles parts of the model: what it leaves out still breaks.
FixEffects EffectsOf(const TriedFixes& tried, std::span<const BreakSite> sites);

// Whether to keep the newer of two trials of a model: not if it tried chosen fixes only, and the older one, of the same
// commit, all that apply.
bool Replaces(const FixEffects& newer, const FixEffects& older);

// Of a result of mode fix; nullopt if it is of another mode, failed, or cannot be read.
std::optional<FixEffects> FixEffectsOf(const ModelResult& result);

}  // namespace breakwatch
