// How a model is run during a capture: a mode, and a call, which is a choice of arguments. Each pair has its own
// structure, capture and result, and one name: "eval", or "eval+minimal" if the call is not the default one.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace breakwatch {

// The mode of the `compile_*` series: the steady state, after a first call.
inline constexpr std::string_view kMainMode = "eval";
// The first compiled call of a model that never ran.
inline constexpr std::string_view kColdMode = "cold";

// What is measured, built or tried instead of counted. `--modes` does not select these: commands of their own do.
inline constexpr std::string_view kProfileMode = "profile", kBenchMode = "bench", kBuildMode = "build",
                                  kFixMode = "fix", kReproMode = "repro";
inline constexpr std::array<std::string_view, 5> kMeasureModes = {kProfileMode, kBenchMode, kBuildMode, kFixMode,
                                                                  kReproMode};
bool IsMeasureMode(std::string_view name);
// The longest CaptureResult::mode_detail_json of these modes.
inline constexpr std::size_t kMaxMeasuredBytes = 1u << 20;

// Every mode that a sweep can be told to capture, in the order of the documentation: eval train dynamic fullgraph
// nested export recompile cold.
std::span<const std::string_view> AllModes();
// Every mode of these with every call.
const std::vector<std::string>& AllModesWithCalls();
// A mode, alone or with a call variant after a plus, or a measure mode.
bool IsMode(std::string_view name);

// The values of capture.calls: default, minimal (also a call with the required arguments only), all (these, and a call
// with every optional tensor).
std::span<const std::string_view> AllCalls();

// Every name that `IsMode` accepts: the modes of stored results, without imports.
const std::vector<std::string>& AllStoredModes();

struct ModeParts {
  std::string_view mode;
  std::string_view call;  // "minimal" or "all"; empty: the default call
};
// Views of `name`.
ModeParts SplitMode(std::string_view name);

// Each mode with the calls that `calls`, a value of capture.calls, selects: the default one first.
std::vector<std::string> WithCalls(const std::vector<std::string>& modes, std::string_view calls);

}  // namespace breakwatch
