#include "breakwatch/core/fix_effects.h"

#include <algorithm>
#include <set>
#include <utility>

#include "breakwatch/core/fixability.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {
namespace {

using ReasonKey = std::pair<std::string, std::string>;  // reason, gb_id

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "+") + name;
  return text;
}

bool RemovesAll(const FixAttempt& attempt, const std::set<std::string>& sites) {
  return std::all_of(sites.begin(), sites.end(), [&](const std::string& site) {
    return std::find(attempt.removed.begin(), attempt.removed.end(), site) != attempt.removed.end();
  });
}

}  // namespace

const ReasonFixes* FixEffects::OfReason(std::string_view reason, std::string_view gb_id) const {
  const auto found = std::find_if(reasons.begin(), reasons.end(), [&](const ReasonFixes& fixes) {
    return fixes.reason == reason && fixes.gb_id == gb_id;
  });
  return found == reasons.end() ? nullptr : &*found;
}

FixEffects EffectsOf(const TriedFixes& tried, std::span<const BreakSite> sites) {
  FixEffects effects;
  effects.chosen = tried.chosen;
  if (const FixAttempt* best = tried.Best(); best != nullptr && best->Helps()) {
    effects.best = Joined(best->names);
    effects.outcome = best->outcome;
    effects.outcomes[effects.best] = best->outcome;
  }
  std::map<ReasonKey, std::set<std::string>> by_reason;
  std::map<ReasonKey, std::vector<std::string_view>> fixability;
  for (const BreakSite& site : sites) {
    by_reason[{site.reason, site.gb_id}].insert(site.site_id);
    const std::string_view of_site = FixabilityOf(&tried, site);
    fixability[{site.reason, site.gb_id}].push_back(of_site);
    effects.sites.emplace(site.site_id, of_site);
  }
  std::map<ReasonKey, std::set<std::string>> removed_by;
  for (const FixAttempt& attempt : tried.attempts) {
    if (attempt.names.size() != 1 || attempt.outcome.empty()) continue;
    effects.outcomes[attempt.names.front()] = attempt.outcome;
    if (!attempt.Helps() || attempt.IsPartial()) continue;
    for (const auto& [key, ids] : by_reason) {
      if (RemovesAll(attempt, ids)) removed_by[key].insert(attempt.names.front());
    }
  }
  for (const auto& [key, ids] : by_reason) {
    const std::set<std::string>& names = removed_by[key];
    effects.reasons.push_back(
        {key.first, key.second, std::string(FixabilityOfAll(fixability[key])), {names.begin(), names.end()}});
  }
  return effects;
}

bool Replaces(const FixEffects& newer, const FixEffects& older) {
  return newer.chosen.empty() || !older.chosen.empty() || newer.commit != older.commit;
}

std::optional<FixEffects> FixEffectsOf(const ModelResult& result) {
  if (result.capture.mode != kFixMode || !HasNumbers(result.capture.status)) return std::nullopt;
  const auto tried = ReadTriedFixes(result.capture.mode_detail_json);
  if (!tried) return std::nullopt;
  FixEffects effects = EffectsOf(*tried, result.capture.sites);
  effects.commit = result.info.sha;
  effects.capture_id = result.capture_id;
  return effects;
}

}  // namespace breakwatch
