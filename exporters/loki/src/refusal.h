// Reads from Loki's answer which entries of a push it refused. Loki stores the others, so they must not be sent again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace breakwatch::exporters {

// What Loki's limits are about; sizes are in bytes.
struct SentEntry {
  std::int64_t ts_ns = 0;
  std::size_t line_size = 0;
  std::size_t metadata_entries = 0, metadata_size = 0;
};

enum class RefusedFor { kAge, kStreamAge, kMetadata, kOther };

struct RefusedEntry {
  std::size_t place = 0;  // in the push
  RefusedFor why = RefusedFor::kOther;
  std::string detail;  // Loki's text
};

struct Refusal {
  std::vector<RefusedEntry> entries;  // in the order of the push
  bool metadata_disallowed = false;   // for their metadata, whatever it is
  // The oldest times that Loki and the stream accepted when Loki answered, to the second.
  std::optional<std::int64_t> oldest_ns, stream_oldest_ns;
};

// `sent`: the entries of the push, oldest first, all of one stream. nullopt: the text does not tell which entries were
// refused, for example because it hides some.
std::optional<Refusal> ReadRefusal(std::string_view text, std::span<const SentEntry> sent);

}  // namespace breakwatch::exporters
