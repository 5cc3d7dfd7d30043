// The Prometheus text format (0.0.4) of a snapshot, streamed: our own writer, because a registry of a
// million series takes seconds to build and read.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "breakwatch/core/snapshot.h"

namespace breakwatch {

using TextSink = std::function<void(std::string_view chunk)>;

struct Shard {
  std::size_t index = 0, count = 1;  // models whose stable hash modulo count is index; shard 0 also writes the rest
};

// All model, reason, sweep, toolchain and build series of the contract, and the snapshot's delivery and workers; no
// timestamps, "\n" line ends, ordered, in chunks of at least 64 KiB except the last.
void WriteExposition(const Snapshot& snapshot, Shard shard, const TextSink& sink);
std::string Exposition(const Snapshot& snapshot);

}  // namespace breakwatch
