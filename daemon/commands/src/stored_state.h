// StoredState: the published state and the state of delivery, read from a store that another process may write.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/core/snapshot.h"

namespace breakwatch::commands {

// Owner: `page`. Thread: any.
class StoredState {
 public:
  explicit StoredState(const App& app) : app_(app) {}

  // Reads the state for the first time. Error: kNotFound without a store.
  Result<void> Load();
  // The state as the newest sweep left it. Looks for a newer one every few seconds at most; while one thread reads it,
  // the others get the state before.
  SnapshotPtr Latest();
  // What each event exporter still has to send. Attempts and failures are known to the daemon only.
  std::vector<DeliveryStats> Delivery() const;

 private:
  Result<std::unique_ptr<store::Store>> Open() const { return app_.open_store(app_.settings(), /*read_only=*/true); }
  Result<void> Read(store::Store& store);
  SnapshotPtr Held() const;

  const App& app_;
  std::mutex reading_;  // held by the thread that reads
  std::string mark_;    // of the history that was read; guarded by `reading_`
  std::optional<SteadyTime> looked_at_;
  mutable std::mutex mutex_;
  SnapshotPtr snapshot_;  // guarded by `mutex_`
};

}  // namespace breakwatch::commands
