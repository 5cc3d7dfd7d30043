// The spellings of the small enums, and what identifies a toolchain.
#include <algorithm>
#include <array>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/event.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {
namespace {

constexpr std::array<std::string_view, 4> kActions = {"capture", "share", "reuse", "skip"};
constexpr std::array<std::string_view, 3> kRebuilds = {"if-needed", "always", "never"};
constexpr std::array<std::string_view, 3> kSweepStates = {"running", "finished", "interrupted"};
constexpr std::array<std::string_view, 7> kModes = {"eval",   "train",  "dynamic",  "fullgraph",
                                                    "nested", "export", "recompile"};
constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};

template <class Enum, std::size_t N>
std::optional<Enum> Parse(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view ActionName(Action action) { return kActions[static_cast<std::size_t>(action)]; }
std::optional<Action> ParseAction(std::string_view name) { return Parse<Action>(kActions, name); }

std::string_view RebuildName(Rebuild rebuild) { return kRebuilds[static_cast<std::size_t>(rebuild)]; }
std::optional<Rebuild> ParseRebuild(std::string_view name) { return Parse<Rebuild>(kRebuilds, name); }

std::string_view SweepStateName(SweepState state) { return kSweepStates[static_cast<std::size_t>(state)]; }
std::optional<SweepState> ParseSweepState(std::string_view name) { return Parse<SweepState>(kSweepStates, name); }

std::span<const std::string_view> AllModes() { return kModes; }
bool IsMode(std::string_view name) { return std::find(kModes.begin(), kModes.end(), name) != kModes.end(); }

std::string_view LevelName(Level level) { return kLevels[static_cast<std::size_t>(level)]; }

std::string Toolchain::Key() const {
  std::string key = name;
  // What is not known has no place: a trace does not say everything.
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) key += what + value;
  };
  add(" torch ", torch), add(" transformers ", transformers), add(" python ", python), add(" ", device);
  return key;
}

}  // namespace breakwatch
