#include "breakwatch/core/fixability.h"

#include <algorithm>
#include <array>

namespace breakwatch {
namespace {

constexpr std::array kByEffort = {kFixedBySetting, kFixedByCall, kNeedsSource, kNeedsTorch, kUntested};

std::size_t EffortOf(std::string_view fixability) {
  return static_cast<std::size_t>(std::find(kByEffort.begin(), kByEffort.end(), fixability) - kByEffort.begin());
}

bool Removes(const FixAttempt& attempt, const BreakSite& site) {
  return attempt.Helps() && !attempt.IsPartial() &&
         std::find(attempt.removed.begin(), attempt.removed.end(), site.site_id) != attempt.removed.end();
}

}  // namespace

std::string_view FixabilityOf(const TriedFixes* tried, const BreakSite& site) {
  if (tried == nullptr) return kUntested;
  // That some fixes do not remove it says nothing of the others.
  const bool tried_all = tried->chosen.empty() && tried->stopped.empty();
  std::string_view best = !tried_all ? kUntested : site.frame == "torch" ? kNeedsTorch : kNeedsSource;
  for (const FixAttempt& attempt : tried->attempts) {
    if (!Removes(attempt, site)) continue;
    const bool calls = std::find(attempt.kinds.begin(), attempt.kinds.end(), "call") != attempt.kinds.end();
    if (!calls) return kFixedBySetting;
    best = kFixedByCall;
  }
  return best;
}

std::string_view FixabilityOfAll(std::span<const std::string_view> sites) {
  if (sites.empty()) return kUntested;
  return *std::max_element(sites.begin(), sites.end(),
                           [](std::string_view a, std::string_view b) { return EffortOf(a) < EffortOf(b); });
}

std::string_view MostSeen(std::span<const std::string_view> models) {
  std::array<std::size_t, kByEffort.size() + 1> seen{};
  for (const std::string_view model : models) ++seen[EffortOf(model)];
  const auto tried = kByEffort.size() - 1;
  const auto most = std::max_element(seen.begin(), seen.begin() + tried);
  return *most == 0 ? kUntested : kByEffort[static_cast<std::size_t>(most - seen.begin())];
}

}  // namespace breakwatch
