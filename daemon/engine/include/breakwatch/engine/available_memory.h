// How much memory captures on this machine may use.
#pragma once

#include <cstdint>
#include <optional>

namespace breakwatch::engine {

// Bytes that are free on this machine, or in the control group of this process where that is less. nullopt: unknown.
std::optional<std::int64_t> AvailableMemory();

}  // namespace breakwatch::engine
