// The names of enum values in documents. Spell and Unspell are overloaded per enum.
#pragma once

#include <optional>
#include <string_view>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/capture.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch::json_fields {

inline constexpr std::string_view kDepthNames[] = {"auto", "verify", "full"};

inline std::string_view Spell(Status s) { return StatusName(s); }
inline std::string_view Spell(Family f) { return FamilyName(f); }
inline std::string_view Spell(Action a) { return ActionName(a); }
inline std::string_view Spell(Rebuild r) { return RebuildName(r); }
inline std::string_view Spell(Depth d) { return kDepthNames[static_cast<int>(d)]; }
inline std::string_view Spell(SweepState s) { return SweepStateName(s); }
inline std::string_view Spell(SweepTrigger t) { return SweepTriggerName(t); }
inline std::string_view Spell(Stage s) { return StageName(s); }

template <class Enum>
bool Assign(std::optional<Enum> parsed, Enum& out) {
  if (parsed) out = *parsed;
  return parsed.has_value();
}

template <class Enum, std::size_t N>
bool AssignByName(const std::string_view (&names)[N], std::string_view name, Enum& out) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return out = static_cast<Enum>(i), true;
  }
  return false;
}

inline bool Unspell(std::string_view name, Status& out) { return Assign(ParseStatus(name), out); }
inline bool Unspell(std::string_view name, Family& out) { return Assign(ParseFamily(name), out); }
inline bool Unspell(std::string_view name, Action& out) { return Assign(ParseAction(name), out); }
inline bool Unspell(std::string_view name, Rebuild& out) { return Assign(ParseRebuild(name), out); }
inline bool Unspell(std::string_view name, Depth& out) { return AssignByName(kDepthNames, name, out); }
inline bool Unspell(std::string_view name, SweepState& out) { return Assign(ParseSweepState(name), out); }
inline bool Unspell(std::string_view name, SweepTrigger& out) { return out = ParseSweepTrigger(name), true; }
inline bool Unspell(std::string_view name, Stage& out) { return Assign(ParseStage(name), out); }

}  // namespace breakwatch::json_fields
