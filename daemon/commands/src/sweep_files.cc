#include "sweep_files.h"

#include <algorithm>

#include "breakwatch/config/show.h"
#include "breakwatch/report/directory.h"
#include "report_output.h"

namespace breakwatch::commands {
namespace {

// The number of sweeps searched for those with a report. Other sweeps lie between them.
constexpr int kMaxSweepsSearched = 1000;
constexpr std::size_t kMaxSweepsKept = 1'000'000;  // as retention.sweeps
// The number of sweeps before one whose files are compared with its own.
constexpr int kMaxSweepsCompared = 8;

}  // namespace

bool HasReport(const Sweep& sweep) {
  // Imports, bisections and measurements have no report, because they return their result directly. An abandoned sweep
  // never completed.
  return sweep.state == SweepState::kFinished && !IsImport(sweep) && !IsAside(sweep) && !store::IsGivenUp(sweep);
}

bool AreReported(const std::string& state_dir, const std::vector<Sweep>& sweeps) {
  const auto is_missing = [&](const Sweep& sweep) {
    return HasReport(sweep) && !report::HasSweepDirectory(state_dir, sweep.id);
  };
  return sweeps.empty() || (!is_missing(sweeps.front()) && !is_missing(sweeps.back()));
}

void SweepFiles::OnFinished(const Sweep& sweep) {
  if (!HasReport(sweep)) return;
  std::unique_lock lock(mutex_);
  const std::string& state = app_.settings().state_dir;
  auto store = app_.open_store(app_.settings(), /*read_only=*/true);
  const auto written = store ? Write(**store, sweep) : Result<bool>(store.error());
  if (!written) Note(written.error());
  if (written && *written) {
    if (auto pointed = PointLatest(**store); !pointed) Note(pointed.error());
    ThinBefore(**store, sweep);
  }
  int kept = Kept().sweeps;
  if (store) {
    if (const auto newest = (*store)->Sweeps(kMaxSweepsSearched)) {
      const std::optional<SystemTime> since = Since();
      report::TrimSweepDirectories(state, {static_cast<std::size_t>(kept), since, Kept().bytes}, *newest);
      kept = std::min(kept, EventsKept(*newest, since));
    }
  }
  lock.unlock();
  if (trim_events_) trim_events_(kept);
}

// Of how many of the newest sweeps `retention.age` and `retention.bytes` keep the events: a sweep has them as long as
// its directory, if it has one.
int SweepFiles::EventsKept(const std::vector<Sweep>& newest, const std::optional<SystemTime>& since) const {
  const auto is_old = [&](const Sweep& s) {
    return s.state == SweepState::kFinished && since && s.finished_at < *since;
  };
  std::size_t kept = static_cast<std::size_t>(std::find_if(newest.begin(), newest.end(), is_old) - newest.begin());
  if (kept == newest.size()) kept = kMaxSweepsKept;  // and those before them
  if (Kept().bytes) {
    const auto has_directory = [&](const Sweep& s) {
      return report::HasSweepDirectory(app_.settings().state_dir, s.id);
    };
    const auto oldest = std::find_if(newest.rbegin(), newest.rend(), has_directory);
    const auto with_directory = static_cast<std::size_t>(newest.rend() - oldest);
    // Without a removed directory below it, the oldest one is no limit.
    if (oldest != newest.rend() && std::any_of(newest.rbegin(), oldest, HasReport))
      kept = std::min(kept, with_directory);
  }
  return static_cast<int>(std::max<std::size_t>(kept, 1));
}

std::vector<Sweep> SweepFiles::WriteMissing(const std::stop_token& stop) {
  const std::string& state = app_.settings().state_dir;
  std::unique_lock lock(mutex_);
  report::RemoveUnfinishedDirectories(state);
  const auto store = app_.open_store(app_.settings(), /*read_only=*/true);
  if (!store) return {};  // no store yet, or the next write reports the error
  auto sweeps = (*store)->Sweeps(kMaxSweepsSearched);
  if (!sweeps) return Note(sweeps.error()), std::vector<Sweep>();
  std::erase_if(*sweeps, [](const Sweep& sweep) { return !HasReport(sweep); });
  KeepRetained(*sweeps);
  std::erase_if(*sweeps, [&](const Sweep& sweep) { return report::HasSweepDirectory(state, sweep.id); });
  std::reverse(sweeps->begin(), sweeps->end());
  std::vector<Sweep> made;
  for (Sweep& sweep : *sweeps) {
    lock.unlock();  // a sweep that ended meanwhile may be written first
    lock.lock();
    if (stop.stop_requested()) break;
    if (report::HasSweepDirectory(state, sweep.id)) continue;
    const auto written = Write(**store, sweep);
    if (!written) {
      Note(written.error());
      break;  // other writes to this disk would fail too
    }
    if (!*written) continue;  // damage in one sweep does not affect the others
    app_.log(Level::kWarn, "the report of sweep " + sweep.id + " was missing and is now written");
    made.push_back(std::move(sweep));
  }
  if (!made.empty()) {
    if (auto pointed = PointLatest(**store); !pointed) Note(pointed.error());
  }
  return made;
}

// Keeps the sweeps whose directory is not to be removed again. `sweeps`: those with a report, newest first.
void SweepFiles::KeepRetained(std::vector<Sweep>& sweeps) const {
  if (sweeps.empty()) return;
  const Sweep newest = sweeps.front();
  sweeps.resize(std::min(sweeps.size(), static_cast<std::size_t>(Kept().sweeps)));
  if (Kept().bytes) {
    // How large a missing one would be is not known, so none is written below the oldest that is there.
    while (sweeps.size() > 1 && !report::HasSweepDirectory(app_.settings().state_dir, sweeps.back().id))
      sweeps.pop_back();
  }
  const std::optional<SystemTime> since = Since();
  std::erase_if(sweeps, [&](const Sweep& s) { return since && s.finished_at < *since && s.id != newest.id; });
}

Result<bool> SweepFiles::Write(store::SweepStore& store, const Sweep& sweep) {
  auto head = store.LoadPlanHead(sweep.id);
  if (!head) return Note(head.error()), false;
  std::optional<Error> unread;
  // One model and one result at a time: those of the whole Hub are gigabytes.
  const report::StreamedPlan plan{*std::move(head), [&](const auto& use) {
                                    auto read = store.EachPlanned(sweep.id, use);
                                    if (!read) unread = read.error();
                                    return read;
                                  }};
  const report::EachResult each = [&](const report::UseResult& use) {
    auto read = EachOf(app_, store, sweep.id)(use);
    if (!read) unread = read.error();
    return read;
  };
  const auto written =
      report::WriteSweepDirectory(app_.settings().state_dir, sweep, plan, each,
                                  report::EnvironmentJson(app_.version, sweep.toolchain, SettingsJson()));
  if (unread) return Note(*unread), false;
  if (!written) return written.error();
  return true;
}

// Makes the link agree with the store on the latest sweep.
Result<void> SweepFiles::PointLatest(store::SweepStore& store) const {
  const auto latest = store.FindSweep("latest");
  if (!latest) return latest.error();
  const std::string& state = app_.settings().state_dir;
  return report::HasSweepDirectory(state, latest->id) ? report::LinkLatest(state, latest->id) : Result<void>();
}

// A repeated report is a copy of many megabytes: the one before it needs no files that are as in this one. Sweeps by
// several toolchains alternate.
void SweepFiles::ThinBefore(store::Pages& store, const Sweep& sweep) {
  const std::string& state = app_.settings().state_dir;
  const auto sweeps = store.SweepsBefore(sweep.id, kMaxSweepsCompared);
  if (!sweeps) return;
  for (const Sweep& before : *sweeps) {
    if (!HasReport(before) || !report::HasSweepDirectory(state, before.id)) continue;
    const auto thinned = report::ThinSweepDirectory(state, before.id, sweep.id);
    if (!thinned) app_.log(Level::kWarn, thinned.error().message);
    if (!thinned || *thinned) return;
  }
}

void SweepFiles::Note(const Error& error) {
  const Error failure = error.Within("the sweep is stored, but its report could not be written");
  app_.log(Level::kError, failure.message + "; `breakwatch store finish` writes it");
  if (!failed_) failed_ = failure;
}

config::RetentionSettings SweepFiles::Kept() const {
  return loaded_ ? loaded_->settings.retention : app_.settings().retention;
}

std::optional<SystemTime> SweepFiles::Since() const {
  const auto age = Kept().age;
  return age ? std::optional(app_.clock->Now() - *age) : std::nullopt;
}

std::string SweepFiles::SettingsJson() const { return config::ShowJson(loaded_ ? *loaded_ : app_.loaded); }

void SweepFiles::Use(const config::Loaded& loaded, const Settings& settings) {
  const std::lock_guard lock(mutex_);
  loaded_ = loaded;
  loaded_->settings = settings;
}

}  // namespace breakwatch::commands
