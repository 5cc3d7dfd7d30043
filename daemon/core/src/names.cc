// The names of the small enums, and the identity of a toolchain.
#include <algorithm>
#include <array>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/choices.h"
#include "breakwatch/core/event.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {
namespace {

constexpr std::array<std::string_view, 4> kActions = {"capture", "share", "reuse", "skip"};
constexpr std::array<std::string_view, 3> kRebuilds = {"if-needed", "always", "never"};
constexpr std::array<std::string_view, 3> kSweepStates = {"running", "finished", "interrupted"};
constexpr std::array<std::string_view, 9> kSweepTriggers = {"cli",    "interval", "signal",  "api",  "import",
                                                            "bisect", "resume",   "measure", "other"};
constexpr std::array<std::string_view, 8> kModes = {"eval",   "train",  "dynamic",   "fullgraph",
                                                    "nested", "export", "recompile", "cold"};
// Each value includes the ones before it. The first one does not appear in a result's name.
constexpr std::array<std::string_view, 3> kCalls = {"default", "minimal", "all"};
constexpr std::array<std::string_view, 5> kSorts = {"downloads", "likes", "lastModified", "createdAt", "trendingScore"};
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

std::string_view SweepTriggerName(SweepTrigger trigger) { return kSweepTriggers[static_cast<std::size_t>(trigger)]; }
SweepTrigger ParseSweepTrigger(std::string_view name) {
  return Parse<SweepTrigger>(kSweepTriggers, name).value_or(SweepTrigger::kOther);
}

std::span<const std::string_view> AllModes() { return kModes; }
std::span<const std::string_view> AllCalls() { return kCalls; }

ModeParts SplitMode(std::string_view name) {
  const std::size_t plus = std::min(name.find('+'), name.size());
  return {name.substr(0, plus), plus == name.size() ? std::string_view() : name.substr(plus + 1)};
}

std::vector<std::string> WithCalls(const std::vector<std::string>& modes, std::string_view calls) {
  const auto last = std::find(kCalls.begin(), kCalls.end(), calls);
  std::vector<std::string> names;
  for (const std::string& mode : modes) {
    names.push_back(mode);
    for (auto call = kCalls.begin() + 1; last != kCalls.end() && call <= last; ++call) {
      names.push_back(mode + "+" + std::string(*call));
    }
  }
  return names;
}

const std::vector<std::string>& AllModesWithCalls() {
  static const std::vector<std::string> kAll = WithCalls({kModes.begin(), kModes.end()}, kCalls.back());
  return kAll;
}

const std::vector<std::string>& AllStoredModes() {
  static const std::vector<std::string> kAll = [] {
    std::vector<std::string> names = AllModesWithCalls();
    names.insert(names.end(), kMeasureModes.begin(), kMeasureModes.end());
    return names;
  }();
  return kAll;
}

bool IsMode(std::string_view name) {
  const auto& all = AllStoredModes();
  return std::find(all.begin(), all.end(), name) != all.end();
}

bool IsMeasureMode(std::string_view name) {
  return std::find(kMeasureModes.begin(), kMeasureModes.end(), name) != kMeasureModes.end();
}

std::span<const std::string_view> AllSorts() { return kSorts; }

std::string OneOf(std::span<const std::string_view> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + std::string(names[i]);
  }
  return text;
}

std::string_view LevelName(Level level) { return kLevels[static_cast<std::size_t>(level)]; }

std::string ToolchainRef::Text() const { return python.empty() ? name : name + "=" + python; }

ToolchainRef ParseToolchainRef(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  return {std::string(text.substr(0, equals)), std::string(text.substr(std::min(equals + 1, text.size())))};
}

std::string Toolchain::Key() const {
  std::string key = name;
  // Unknown parts are omitted: a trace does not contain all of them.
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) key += what + value;
  };
  add(" torch ", torch), add(" transformers ", transformers), add(" python ", python), add(" ", device);
  return key;
}

}  // namespace breakwatch
