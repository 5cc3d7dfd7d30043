#include "sweep_files.h"

#include <algorithm>

#include "breakwatch/config/show.h"
#include "breakwatch/report/directory.h"

namespace breakwatch::commands {
namespace {

// The number of sweeps searched for those with a report. Other sweeps lie between them.
constexpr int kMaxSweepsSearched = 1000;

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
  const std::string& state = app_.settings().state_dir;
  auto store = app_.open_store(app_.settings(), /*read_only=*/true);
  const auto content = store ? Read(**store, sweep) : Result<Content>(store.error());
  auto written = content ? Write(sweep, *content) : Result<void>(content.error());
  if (written) written = PointLatest(**store);
  if (!written) Note(written.error());
  if (store) {
    if (const auto newest = (*store)->Sweeps(kMaxSweepsSearched)) {
      std::vector<std::string> ids;
      for (const Sweep& one : *newest) ids.push_back(one.id);
      report::TrimSweepDirectories(state, static_cast<std::size_t>(Kept()), ids);
    }
  }
  if (trim_events_) trim_events_(Kept());
}

std::vector<Sweep> SweepFiles::WriteMissing() {
  const std::string& state = app_.settings().state_dir;
  report::RemoveUnfinishedDirectories(state);
  const auto store = app_.open_store(app_.settings(), /*read_only=*/true);
  if (!store) return {};  // no store yet, or the next write reports the error
  auto sweeps = (*store)->Sweeps(kMaxSweepsSearched);
  if (!sweeps) return Note(sweeps.error()), std::vector<Sweep>();
  std::erase_if(*sweeps, [](const Sweep& sweep) { return !HasReport(sweep); });
  if (sweeps->size() > static_cast<std::size_t>(Kept())) sweeps->resize(static_cast<std::size_t>(Kept()));
  std::erase_if(*sweeps, [&](const Sweep& sweep) { return report::HasSweepDirectory(state, sweep.id); });
  std::reverse(sweeps->begin(), sweeps->end());
  std::vector<Sweep> made;
  for (Sweep& sweep : *sweeps) {
    const auto content = Read(**store, sweep);
    if (!content) {
      Note(content.error());
      continue;  // damage in one sweep does not affect the others
    }
    if (auto written = Write(sweep, *content); !written) {
      Note(written.error());
      break;  // other writes to this disk would fail too
    }
    app_.log(Level::kWarn, "the report of sweep " + sweep.id + " was missing and is now written");
    made.push_back(std::move(sweep));
  }
  if (!made.empty()) {
    if (auto pointed = PointLatest(**store); !pointed) Note(pointed.error());
  }
  return made;
}

Result<SweepFiles::Content> SweepFiles::Read(store::SweepStore& store, const Sweep& sweep) const {
  auto plan = store.LoadPlan(sweep.id);
  if (!plan) return plan.error();
  auto results = store.Results(sweep.id);
  if (!results) return results.error();
  NoteOwners(*results, app_.settings().models.rules.owners);
  return Content{*std::move(plan), *std::move(results)};
}

Result<void> SweepFiles::Write(const Sweep& sweep, const Content& content) const {
  const auto written =
      report::WriteSweepDirectory(app_.settings().state_dir, sweep, content.plan, content.results,
                                  report::EnvironmentJson(app_.version, sweep.toolchain, SettingsJson()));
  return written ? Result<void>() : Result<void>(written.error());
}

// Makes the link agree with the store on the latest sweep.
Result<void> SweepFiles::PointLatest(store::SweepStore& store) const {
  const auto latest = store.FindSweep("latest");
  if (!latest) return latest.error();
  const std::string& state = app_.settings().state_dir;
  return report::HasSweepDirectory(state, latest->id) ? report::LinkLatest(state, latest->id) : Result<void>();
}

void SweepFiles::Note(const Error& error) {
  const Error failure = error.Within("the sweep is stored, but its report could not be written");
  app_.log(Level::kError, failure.message + "; `breakwatch store finish` writes it");
  if (!failed_) failed_ = failure;
}

int SweepFiles::Kept() const {
  return std::max(1, loaded_ ? loaded_->settings.retention.sweeps : app_.settings().retention.sweeps);
}

std::string SweepFiles::SettingsJson() const { return config::ShowJson(loaded_ ? *loaded_ : app_.loaded); }

void SweepFiles::Use(const config::Loaded& loaded, const Settings& settings) {
  loaded_ = loaded;
  loaded_->settings = settings;
}

}  // namespace breakwatch::commands
