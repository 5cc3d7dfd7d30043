// Store: one session on the durable history and state, as seven seams: SweepStore, Pages, EventLog, CurrentState,
// Trends, GatewayGroups and ArtifactStore. A user names the seam that it needs; who opens a store holds the Store.
//
// SQLite (WAL, synchronous=FULL) by default, PostgreSQL when shared; same code. Formats: FORMAT.md.
// Owner: each thread opens its own. Thread: the one that opened it. One writer of sweeps at a time: the loop, which
// holds the writer lock; the threads of delivery write the delivery state and the gateway groups only, each of its own
// exporter, and commands write artifacts. Every method is one transaction; none spans other I/O.
// Error: kStore (the message names the file or server, and a full disk); kNotFound if a named thing does not exist. A
// database with a newer schema version is refused.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/result.h"
#include "breakwatch/store/artifacts.h"
#include "breakwatch/store/current_state.h"
#include "breakwatch/store/event_log.h"
#include "breakwatch/store/gateway_groups.h"
#include "breakwatch/store/pages.h"
#include "breakwatch/store/sweep_store.h"
#include "breakwatch/store/trends.h"

namespace breakwatch::store {

// A row that cannot be read. The rest of the store is read without it.
struct Damage {
  std::string table, row;  // the row's key, as text; empty: unknown
  std::string model;       // model of the row; empty: none
  std::string what;        // the cause, one line
};
// One line for the operator.
std::string Describe(const Damage& damage);

struct StoreOptions {
  std::string url;         // "sqlite:/path/to/breakwatch.db" or "postgresql://..." (libpq's form)
  bool read_only = false;  // for reading commands: never migrates; an absent database is kNotFound
  std::chrono::milliseconds lock_timeout{10'000};  // how long to wait for another writer's transaction
  std::function<void(const Damage&)> on_damage{};  // a row was skipped; once per row and session
};

class Store : public SweepStore,
              public Pages,
              public EventLog,
              public CurrentState,
              public Trends,
              public GatewayGroups,
              public ArtifactStore {
 public:
  static Result<std::unique_ptr<Store>> Open(const StoreOptions& options, const Clock& clock);

  // Upkeep is here and in no seam: it concerns the database as a whole and only its opener calls it.
  virtual Result<int> SchemaVersion() = 0;
  // Reads every document and checks the database's integrity. Returns at most kMaxDamage.
  virtual Result<std::vector<Damage>> FindDamage() = 0;
  static constexpr std::size_t kMaxDamage = 1000;
  // The same, as an Error if there is any damage.
  Result<void> Check();
  // Error: kStore, the database was removed or replaced since it was opened. Thread: any.
  virtual Result<void> StillThere() = 0;
  // One writer of sweeps per database, whatever the state directory, until the session ends. Error: kStore,
  // retryable, if another session has it.
  virtual Result<void> LockAsWriter() = 0;
};

}  // namespace breakwatch::store
