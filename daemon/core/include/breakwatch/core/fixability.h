// Fixability: what must change so that a break site goes, as far as tried fixes showed it. Pure; thread: any.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/fix.h"

namespace breakwatch {

// By what they ask of a user, the least first.
inline constexpr std::string_view kFixedBySetting = "setting";  // a setting of torch removed it
inline constexpr std::string_view kFixedByCall = "call";  // another call removed it, or another option of the model
inline constexpr std::string_view kNeedsSource =
    "source change";                                       // no fix moved it; its line is the model's or a library's
inline constexpr std::string_view kNeedsTorch = "torch";   // no fix moved it; its line is torch's
inline constexpr std::string_view kUntested = "untested";  // no fix was tried

// What removed a site. Of several fixes the one that asks the least of a user counts. A fix that compiles only parts of
// the model removes nothing. `tried`: null if no fix was tried on the model.
std::string_view FixabilityOf(const TriedFixes* tried, const BreakSite& site);

// Of several sites that are to go together: the one that asks the most. `untested` if any is, or if there is none.
std::string_view FixabilityOfAll(std::span<const std::string_view> sites);

// Of the models of one reason: what most of those say on which fixes were tried, of equally many the one that asks the
// least. `untested` if none was.
std::string_view MostSeen(std::span<const std::string_view> models);

}  // namespace breakwatch
