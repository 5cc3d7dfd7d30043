// EventLog: stored events, and how far each event exporter has delivered them: cursors, dead letters, pauses.
//
// An exporter's thread reads events and writes the exporter's delivery state. The loop appends events that belong to no
// sweep; SweepStore writes those of a sweep with their cause. Owner, thread and errors: store.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/event.h"
#include "breakwatch/core/result.h"

namespace breakwatch::store {

struct DeadLetter {
  std::string exporter;
  StoredEvent event;
  std::string reason;
  SystemTime at{};
  bool queued = false;  // waits to be sent again
};

// An event that a target refused, with its answer.
struct Refusal {
  StoredEvent event;
  std::string reason;
};

// Selects dead letters; an empty field matches any.
struct LetterFilter {
  std::string exporter{};
  std::vector<std::int64_t> ids{};  // of their events
  std::string after_exporter{};     // only letters after this one, in the order of a list; empty: from the first
  std::int64_t after_event = 0;
};

// The state of delivery of one event exporter.
struct DeliveryState {
  std::string exporter{};
  std::int64_t cursor = 0;        // the last event that it is done with
  std::int64_t dead_letters = 0;  // without those queued
  std::int64_t queued = 0;
  std::string paused{};  // the answer that paused it; empty: not paused
  SystemTime paused_at{};
  std::string last_error{};  // the newest answer that was a failure or a refusal; empty: none
  SystemTime last_error_at{};
};

class EventLog {
 public:
  virtual ~EventLog() = default;

  virtual Result<void> AppendEvents(std::span<const Event> events) = 0;
  // After `id`, in order, at most `limit` and about `max_bytes` of lines (at least one).
  virtual Result<std::vector<StoredEvent>> EventsAfter(std::int64_t id, int limit, std::size_t max_bytes) = 0;
  virtual Result<std::int64_t> NewestEventId() = 0;
  virtual Result<std::int64_t> NewestEventBefore(SystemTime time) = 0;   // 0: none
  virtual Result<std::int64_t> Cursor(const std::string& exporter) = 0;  // 0 before the first
  virtual Result<void> SetCursor(const std::string& exporter, std::int64_t event_id) = 0;
  // Removes the oldest events, at most `limit` of them: those before the newest `keep_sweeps` sweeps that every one of
  // `exporters` is done with. Returns their number; fewer than `limit`: none is left.
  virtual Result<int> TrimEvents(std::span<const std::string> exporters, int keep_sweeps, int limit) = 0;

  // --- dead letters
  // The dead letters and the cursor, which never moves back, in one transaction. `cursor`: the event up to which the
  // exporter is done.
  virtual Result<void> BuryEvents(const std::string& exporter, std::span<const Refusal> refused,
                                  std::int64_t cursor) = 0;
  Result<void> BuryEvent(const std::string& exporter, const StoredEvent& event, const std::string& reason) {
    const Refusal refused{event, reason};
    return BuryEvents(exporter, {&refused, 1}, event.id);
  }
  // By exporter and then by event, at most `limit`.
  virtual Result<std::vector<DeadLetter>> DeadLetters(const LetterFilter& filter, int limit) = 0;
  virtual Result<std::int64_t> CountDeadLetters(const std::string& exporter) = 0;  // without those queued
  virtual Result<std::int64_t> CountQueuedLetters(const std::string& exporter) = 0;
  // Marks them to be sent again, or removes them. Returns their number.
  virtual Result<std::int64_t> QueueDeadLetters(const LetterFilter& filter) = 0;
  virtual Result<std::int64_t> DropDeadLetters(const LetterFilter& filter) = 0;
  // The queued ones in the order of their events, within the bounds of EventsAfter.
  virtual Result<std::vector<StoredEvent>> QueuedLetters(const std::string& exporter, int limit,
                                                         std::size_t max_bytes) = 0;
  // Queued letters that were refused again are dead again, unless they were dropped meanwhile.
  virtual Result<void> RefuseQueuedLetters(const std::string& exporter, std::span<const Refusal> refused) = 0;

  // --- pauses and errors
  // `detail`: the answer that paused the exporter; empty: it is not paused.
  virtual Result<void> SetPaused(const std::string& exporter, const std::string& detail) = 0;
  virtual Result<void> SetLastError(const std::string& exporter, const std::string& detail) = 0;
  // Of every exporter in the store, by name.
  virtual Result<std::vector<DeliveryState>> DeliveryStates() = 0;
};

}  // namespace breakwatch::store
