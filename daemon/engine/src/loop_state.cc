#include "loop_state.h"

#include <algorithm>
#include <array>
#include <utility>

#include "events.h"
#include "import_runner.h"

namespace breakwatch::engine {

LoopState::LoopState(LoopParts loop_parts, LoopOptions loop_options)
    : parts(std::move(loop_parts)), options(std::move(loop_options)), runner_(&parts.runner) {
  wake.Add(parts.commands.Fd());
  if (parts.held_fd >= 0) wake.Add(parts.held_fd);
}

Result<Toolchain> LoopState::UseToolchain(const ToolchainRef& toolchain) {
  UsePrimary();
  const bool is_primary = toolchain.name.empty() || toolchain.name == options.plan.toolchain.name;
  if (is_primary && toolchain.python.empty()) return options.plan.toolchain;
  if (!parts.open_toolchain) return Error{ErrorCode::kUsage, "unknown toolchain " + toolchain.name};
  auto opened = parts.open_toolchain(toolchain);
  if (!opened) return opened.error();
  (void)runner_->StopAll();  // two sets of zygotes would compete for memory
  runner_ = opened->runner;
  further_ = opened->toolchain.name;
  return opened->toolchain;
}

Toolchain LoopState::UseImport(CaptureResult imported) {
  UsePrimary();
  Toolchain toolchain = imported.toolchain;
  import_ = std::make_unique<ImportRunner>(std::move(imported));
  runner_ = import_.get();
  return toolchain;
}

void LoopState::UsePrimary() {
  CountWorkers();
  if (runner_ != &parts.runner) (void)runner_->StopAll();
  runner_ = &parts.runner;
  further_.clear();
  import_.reset();
}

void LoopState::TakeCommands() {
  while (auto command = parts.commands.Pop()) {
    switch (command->kind) {
      case Command::Kind::kStop:
        stopping_ = true;
        break;
      case Command::Kind::kReload:
        Reload(command->id);
        break;
      case Command::Kind::kCancel:
        Cancel(command->id);
        break;
      case Command::Kind::kStoreEvent: {
        const std::array events = {std::move(command->event)};
        if (parts.event_log.AppendEvents(events)) EventsStored();  // a failing store reports it at its next write
        break;
      }
      case Command::Kind::kSweep:
        if (!requests.Add(std::move(command->request), command->id)) {
          const Error error{ErrorCode::kInternal, "too many different sweeps are waiting", true};
          parts.progress.OnRefused(command->id, error);
          parts.progress.OnWarning("request " + command->id + " refused: " + error.message);
        }
        break;
    }
  }
}

void LoopState::Serve(const Request& request) {
  cancelled_ = false;
  serving_.commands = request.commands;
  serving_.own = request.own;
}

void LoopState::Cancel(const std::string& command_id) {
  const Error cancelled{ErrorCode::kInterrupted, "cancelled"};
  if (requests.Cancel(command_id)) return parts.progress.OnRefused(command_id, cancelled);
  const auto serving = std::find(serving_.commands.begin(), serving_.commands.end(), command_id);
  if (serving == serving_.commands.end()) return;  // it has ended
  cancelled_ = serving_.commands.size() == 1 && !serving_.own;
  if (cancelled_) return;
  serving_.commands.erase(serving);
  parts.progress.OnServed(command_id, &cancelled);
}

void LoopState::Reload(const std::string& command_id) {
  if (!parts.reload) return;
  auto reloaded = parts.reload();
  const Error* refused = reloaded ? nullptr : &reloaded.error();
  if (refused != nullptr) parts.progress.OnWarning("settings not reloaded: " + refused->message);
  if (reloaded) options = *std::move(reloaded);
  if (aggregate_) aggregate_->Use(options.aggregate);
  const std::array events = {ConfigReloaded(refused)};
  // The settings are used or refused even if the store cannot take the event. The store reports the error at its next
  // write.
  if (parts.event_log.AppendEvents(events)) EventsStored();
  parts.progress.OnServed(command_id, refused);
}

Result<void> LoopState::EnsureAggregate() {
  if (aggregate_) return {};
  auto loaded = LoadAggregate(parts.current, options.aggregate);
  if (!loaded) return loaded.error();
  aggregate_ = std::move(loaded->aggregate);
  if (loaded->is_stored) return {};
  return parts.current.ReplaceCurrent(aggregate_->ToCurrent(), loaded->trends);
}

Result<void> LoopState::BeginAggregate() {
  if (!parts.open_current) return EnsureAggregate();
  auto loaded = LoadAggregate(parts.current, options.aggregate, /*fold_again=*/false);
  if (!loaded) return loaded.error();
  if (loaded->is_stored) {
    aggregate_ = std::move(loaded->aggregate);
    return {};
  }
  if (parts.show && loaded->aggregate.HasTracked())
    parts.show(std::make_shared<const Snapshot>(SnapshotOf(loaded->aggregate)));
  parts.progress.OnWarning(
      "the current state was stored by another version or is damaged: it is computed from the history in the "
      "background, and sweeps wait for it");
  refold_ = std::make_unique<Refold>(parts.open_current, options.aggregate);
  wake.Add(refold_->Fd());
  return {};
}

Result<void> LoopState::EndFold() {
  auto folded = refold_->Take();
  if (!folded) return {};
  wake.Remove(refold_->Fd());
  refold_.reset();
  if (!*folded) return folded->error();
  FoldedHistory& history = **folded;
  if (auto stored = parts.current.ReplaceCurrent(history.aggregate.ToCurrent(), history.trends); !stored) return stored;
  history.aggregate.Use(options.aggregate);
  aggregate_ = std::move(history.aggregate);
  parts.progress.OnWarning("the current state is computed");
  return {};
}

void LoopState::CountWorkers() {
  const std::optional<WorkerCounts> counts = runner_->Workers();
  if (counts) workers_[further_.empty() ? options.plan.toolchain.name : further_] = *counts;
}

void LoopState::NoteFailure() {
  last_failure_ = parts.clock.Now();
  (void)parts.sweeps.NoteFailure(*last_failure_);
}

void LoopState::Publish(bool urgent) {
  published_at = parts.clock.Steady();
  if (parts.publish) parts.publish(std::make_shared<const Snapshot>(SnapshotOf(*aggregate_)), urgent);
}

Snapshot LoopState::SnapshotOf(const Aggregate& aggregate) {
  if (!last_failure_) {
    if (auto known = parts.sweeps.LastFailure()) last_failure_ = *known;
  }
  Snapshot snapshot = aggregate.MakeSnapshot(parts.clock.Now());
  snapshot.sandbox = parts.runner.Sandbox().used;
  CountWorkers();
  if (parts.count_workers)
    parts.count_workers(workers_);
  else
    snapshot.workers = workers_;
  if (parts.count_artifacts) {
    if (auto counted = parts.count_artifacts())
      artifacts_ = *std::move(counted);
    else
      parts.progress.OnWarning("artifacts are not counted: " + counted.error().message);
    snapshot.artifacts = artifacts_;
  }
  snapshot.sweep.last_failure = last_failure_.value_or(SystemTime{});
  snapshot.sweep.interval = options.sweep_interval.value_or(std::chrono::seconds(0));
  snapshot.sweep.next_due = next_due;
  return snapshot;
}

}  // namespace breakwatch::engine
