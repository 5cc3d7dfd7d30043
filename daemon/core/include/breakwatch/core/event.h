// Event: one structured log record; stored, with its bytes and time, before it is sent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace breakwatch {

enum class Level { kDebug, kInfo, kWarn, kError };
std::string_view LevelName(Level level);

struct Event {
  std::string name;  // "sweep_started", "graph_break", ...: becomes msg
  Level level = Level::kInfo;
  std::string sweep_id, model, commit;
  std::string fields_json;  // JSON object of further snake_case fields; may be empty

  bool operator==(const Event&) const = default;
};

struct StoredEvent {
  std::int64_t id = 0;     // event_id: from 1, no gaps, in order
  std::int64_t ts_ns = 0;  // Unix time; strictly increasing over ids
  std::string sweep_id, model, commit;
  std::string line;  // the JSON object, at most kMaxLineBytes, no newline
};

// The event that records a failure or a refusal of an exporter.
inline constexpr char kDeliveryFailed[] = "delivery_failed";

inline constexpr std::size_t kMaxLineBytes = 64 * 1024;

// The line of an event: ts, level, msg, schema, event_id, sweep_id, model, commit, then its fields.
// A line over the limit: its longest text fields are cut, which end in "…" (and `truncated: true`).
std::string ComposeLine(const Event& event, std::int64_t id, std::int64_t ts_ns);
// Event::name of a stored event; empty if its line has none. Parses the line: not for every event of a batch.
std::string NameOf(const StoredEvent& event);

}  // namespace breakwatch
