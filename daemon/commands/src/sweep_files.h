// SweepFiles: writes a directory for each finished sweep, restores missing ones after a crash, and removes old ones.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/core/progress.h"

namespace breakwatch::commands {

// Writes <state>/sweeps/<id> and <state>/latest when a sweep finishes, and removes what `retention` does not keep.
// Owner: the command, which holds the writer lock; thread: the loop's, but WriteMissing may run on another.
class SweepFiles final : public ProgressListener {
 public:
  explicit SweepFiles(App& app) : app_(app) {}
  void OnFinished(const Sweep& sweep) override;
  // Writes missing directories of finished sweeps that `retention` keeps. They are missing if the process ended between
  // the store and the report, or if the disk was full. With retention.bytes, none is written below the oldest one that
  // exists. Returns their sweeps, oldest first. A stop request ends it before the next one.
  std::vector<Sweep> WriteMissing(const std::stop_token& stop = {});
  // The first directory that could not be written; it was logged. Not while WriteMissing runs.
  const std::optional<Error>& failed() const { return failed_; }
  // Uses new settings after a reload.
  void Use(const config::Loaded& loaded, const Settings& settings);
  // Sets the callback at each end of a sweep. Its argument is the number of sweeps whose events to keep.
  void OnTrim(std::function<void(int keep_sweeps)> trim) { trim_events_ = std::move(trim); }

 private:
  // False: the sweep cannot be read, which is noted. Error: its files cannot be written.
  Result<bool> Write(store::SweepStore& store, const Sweep& sweep);
  Result<void> PointLatest(store::SweepStore& store) const;
  void ThinBefore(store::Pages& store, const Sweep& sweep);
  void Note(const Error& error);
  config::RetentionSettings Kept() const;
  std::optional<SystemTime> Since() const;  // by retention.age
  int EventsKept(const std::vector<Sweep>& newest, const std::optional<SystemTime>& since) const;
  void KeepRetained(std::vector<Sweep>& sweeps) const;
  std::string SettingsJson() const;

  App& app_;
  std::mutex mutex_;                      // held while one directory is written
  std::optional<config::Loaded> loaded_;  // absent: the program's own
  std::function<void(int)> trim_events_;
  std::optional<Error> failed_;
};

// True if a finished sweep has its own directory. `sweep` prints it, and `store finish` writes it.
bool HasReport(const Sweep& sweep);
// True if the reports of a request's sweeps are written. Checks only the first, which is the latest, and the last,
// which is the newest. Both are kept, while others may have been removed.
bool AreReported(const std::string& state_dir, const std::vector<Sweep>& sweeps);

}  // namespace breakwatch::commands
