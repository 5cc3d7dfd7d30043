// How a model is run while it is captured. Each mode of a model has a structure, a capture and a result of its own.
#pragma once

#include <span>
#include <string_view>

namespace breakwatch {

// Whose numbers are the model's `compile_*` series.
inline constexpr std::string_view kMainMode = "eval";

// Every mode, in the order of the documentation: eval train dynamic fullgraph nested export recompile.
std::span<const std::string_view> AllModes();
bool IsMode(std::string_view name);

}  // namespace breakwatch
