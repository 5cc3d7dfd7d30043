// How a model is run during a capture: a mode, and a call, which is a choice of arguments. Each pair has its own
// structure, capture and result, and one name: "eval", or "eval+minimal" if the call is not the default one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace breakwatch {

// The mode of the `compile_*` series: the steady state, after a first call.
inline constexpr std::string_view kMainMode = "eval";
// The first compiled call of a model that never ran.
inline constexpr std::string_view kColdMode = "cold";

// Every mode, in the order of the documentation: eval train dynamic fullgraph nested export recompile cold.
std::span<const std::string_view> AllModes();
// Every mode with every call: what `IsMode` accepts.
const std::vector<std::string>& AllModesWithCalls();
// A mode, alone or with a call variant after a plus.
bool IsMode(std::string_view name);

// The values of capture.calls: default, minimal (also a call with the required arguments only), all (these, and a call
// with every optional tensor).
std::span<const std::string_view> AllCalls();

struct ModeParts {
  std::string_view mode;
  std::string_view call;  // "minimal" or "all"; empty: the default call
};
// Views of `name`.
ModeParts SplitMode(std::string_view name);

// Each mode with the calls that `calls`, a value of capture.calls, selects: the default one first.
std::vector<std::string> WithCalls(const std::vector<std::string>& modes, std::string_view calls);

}  // namespace breakwatch
