// SweepFiles: the directories of sweeps beside the store: written at each end, made up for after a crash, trimmed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/core/progress.h"

namespace breakwatch::commands {

// Writes <state>/sweeps/<id> and <state>/latest when a sweep finishes, and removes what is older than
// retention.sweeps. Owner: the command, which holds the writer lock; thread: the loop's.
class SweepFiles final : public ProgressListener {
 public:
  explicit SweepFiles(App& app) : app_(app) {}
  void OnFinished(const Sweep& sweep) override;
  // Writes the directories that are missing, of the newest retention.sweeps finished sweeps: the process before this
  // one ended between the store and the report, or the disk was full. Returns their sweeps, the oldest first.
  std::vector<Sweep> WriteMissing();
  // The first directory that could not be written; it was logged.
  const std::optional<Error>& failed() const { return failed_; }
  // The settings in use since a reload.
  void Use(const config::Loaded& loaded, const Settings& settings);
  // Called at each end with how many sweeps to keep the events of.
  void OnTrim(std::function<void(int keep_sweeps)> trim) { trim_events_ = std::move(trim); }

 private:
  struct Content {
    Plan plan;
    std::vector<ModelResult> results;
  };
  static Result<Content> Read(store::Store& store, const Sweep& sweep);
  Result<void> Write(const Sweep& sweep, const Content& content) const;
  Result<void> PointLatest(store::Store& store) const;
  void Note(const Error& error);
  int Kept() const;
  std::string SettingsJson() const;

  App& app_;
  std::optional<config::Loaded> loaded_;  // absent: the program's own
  std::function<void(int)> trim_events_;
  std::optional<Error> failed_;
};

// Of a finished sweep: whether it has a directory of its own, which `sweep` shows and `store finish` writes.
bool HasReport(const Sweep& sweep);
// Whether the reports of a request's sweeps are written. Only the first and the last one are looked at: the first is
// the latest and the last the newest, so both are kept, where those between may have been trimmed.
bool AreReported(const std::string& state_dir, const std::vector<Sweep>& sweeps);

}  // namespace breakwatch::commands
