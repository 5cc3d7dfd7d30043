#include "session.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/config/inputs_file.h"
#include "breakwatch/config/show.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/engine/available_memory.h"
#include "breakwatch/report/directory.h"
#include "delivery_options.h"

namespace breakwatch::commands {

void Fanout::OnAccepted(std::string_view command_id, std::string_view sweep_id) {
  for (auto* l : listeners_) l->OnAccepted(command_id, sweep_id);
}
void Fanout::OnRefused(std::string_view command_id, const Error& error) {
  for (auto* l : listeners_) l->OnRefused(command_id, error);
}
void Fanout::OnListing(int resolved, int total) {
  for (auto* l : listeners_) l->OnListing(resolved, total);
}
void Fanout::OnPlan(const Plan& plan, std::size_t already_done) {
  for (auto* l : listeners_) l->OnPlan(plan, already_done);
}
void Fanout::OnWaiting(std::string_view why) {
  for (auto* l : listeners_) l->OnWaiting(why);
}
void Fanout::OnStarted(std::string_view model) {
  for (auto* l : listeners_) l->OnStarted(model);
}
void Fanout::OnResult(const ModelResult& result, std::size_t done, std::size_t total) {
  for (auto* l : listeners_) l->OnResult(result, done, total);
}
void Fanout::OnFinished(const Sweep& sweep) {
  for (auto* l : listeners_) l->OnFinished(sweep);
}
void Fanout::OnFailed(const Error& error) {
  for (auto* l : listeners_) l->OnFailed(error);
}
void Fanout::OnServed(std::string_view command_id, const Error* error) {
  for (auto* l : listeners_) l->OnServed(command_id, error);
}
void Fanout::OnWarning(std::string_view text) {
  for (auto* l : listeners_) l->OnWarning(text);
}

Result<engine::LoopOptions> MakeLoopOptions(const App& app, const Settings& settings) {
  auto toolchain = app.describe_toolchain(settings);
  if (!toolchain) return toolchain.error();
  auto ignored = app.ignored_config_keys(settings);
  if (!ignored) return ignored.error();
  engine::LoopOptions options;
  options.plan.modes = WithCalls(settings.capture.modes, settings.capture.calls);
  options.plan.toolchain = *toolchain;
  options.plan.ignored_config_keys = std::move(*ignored);
  options.plan.verify_share = settings.capture.verify_share;
  options.plan.seed = settings.capture.seed;
  auto specs = config::ReadInputsFile(settings.capture.inputs_file);
  if (!specs) return specs.error();
  options.plan.inputs_specs = *std::move(specs);
  options.plan.rules = settings.models.rules;
  options.plan.repeat = settings.capture.repeat;
  options.plan.fix = config::FixOptionsOf(settings.capture);
  options.plan.measure = config::MeasureOptionsOf(settings.measure);
  options.plan.machine = MachineName();
  options.measure_timeout = settings.measure.timeout;
  options.extra_toolchains = settings.capture.extra_toolchains;
  options.memory_bytes = settings.capture.memory;
  options.plan.quarantine_after = settings.sweep.quarantine_after;
  options.plan.quarantine_for = std::chrono::ceil<std::chrono::hours>(settings.sweep.quarantine_for);
  options.aggregate.unranked_sweeps = settings.retention.unranked_sweeps;
  options.aggregate.trend_days = settings.retention.trend_days;
  options.aggregate.extra = settings.metrics.extra;
  options.aggregate.metrics = {settings.metrics.drop, settings.metrics.phases};
  options.limits = settings.capture.limits;
  options.snapshot_interval = std::chrono::ceil<std::chrono::seconds>(settings.delivery.metric_interval);
  if (settings.sweep.interval)
    options.sweep_interval = std::chrono::ceil<std::chrono::seconds>(*settings.sweep.interval);
  options.default_request.list = settings.hub.list;
  options.default_request.trigger = SweepTrigger::kInterval;
  options.default_request.modes = options.plan.modes;
  options.default_request.try_fixes = settings.capture.fix == "broken";
  if (const auto rebuild = ParseRebuild(settings.sweep.rebuild)) options.default_request.rebuild = *rebuild;
  return options;
}

Result<engine::LoopOptions> DaemonOptions(const App& app, const Settings& settings) {
  auto options = MakeLoopOptions(app, settings);
  if (options) options->release_when_idle = true;
  return options;
}

namespace {

constexpr std::chrono::milliseconds kLateEvents{1'000}, kLastPush{1'000};

Event DeliveryFailed(std::string_view exporter, std::string_view text) {
  Event event;
  event.name = kDeliveryFailed;
  event.level = Level::kWarn;
  event.fields_json = JsonText(nlohmann::json{{"exporter", exporter}, {"detail", text}});
  return event;
}

}  // namespace

Result<std::unique_ptr<Session>> Session::Open(App& app, ProgressListener& progress, Use use) {
  auto lock = store::WriterLock::Take(app.settings().state_dir);
  if (!lock) return lock.error();
  std::unique_ptr<Session> session(new Session(app, std::move(*lock)));
  if (auto assembled = session->Assemble(progress, use); !assembled) return assembled.error();
  return session;
}

Result<void> Session::Assemble(ProgressListener& progress, Use use) {
  const Settings& settings = app_.settings();
  auto options = use == Use::kDaemon ? DaemonOptions(app_, settings) : MakeLoopOptions(app_, settings);
  if (!options) return options.error();
  auto opened = app_.open_store(settings, /*read_only=*/false);
  if (!opened) return opened.error();
  store_ = std::move(*opened);
  if (auto locked = store_->LockAsWriter(); !locked) return locked;
  auto lister = app_.make_lister(settings);
  if (!lister) return lister.error();
  lister_ = std::move(*lister);
  auto runner = app_.make_runner(settings);
  if (!runner) return runner.error();
  runner_ = std::move(*runner);
  auto exporters = app_.make_exporters(settings);
  if (!exporters) return exporters.error();

  for (const auto& events : exporters->events) event_exporters_.emplace_back(events.exporter->Name());

  engine::DeliveryOptions delivery = DeliveryOptionsOf(settings);
  delivery.stats_in_snapshots = use == Use::kOneSweep;
  delivery.report = [this](Level level, std::string_view exporter, std::string_view text) {
    if (is_last_push_) return;
    app_.log(level, std::string(exporter) + ": " + std::string(text));
    if (level < Level::kWarn) return;
    Command record;
    record.kind = Command::Kind::kStoreEvent;
    record.event = DeliveryFailed(exporter, text);
    [[maybe_unused]] const bool taken = commands_.Push(std::move(record));  // queue full: the log has it
  };
  delivery_ = std::make_unique<engine::DeliveryThreads>(EventLogOf(app_), std::move(*exporters), *app_.clock, delivery);
  const auto publish = [this](SnapshotPtr snapshot, bool urgent) {
    {
      const std::lock_guard guard(snapshot_mutex_);
      snapshot_ = snapshot;
    }
    delivery_->Publish(snapshot, urgent);
  };
  const auto reload = [this]() -> Result<engine::LoopOptions> {
    if (reload_) return reload_();
    return Error{ErrorCode::kUsage, "reload is not possible here"};
  };
  // The memory of another host is unknown here.
  const auto& launcher = settings.capture.launcher;
  const bool here = launcher.empty() || launcher == std::vector<std::string>{"auto"};
  engine::LoopParts parts{.sweeps = *store_,
                          .event_log = *store_,
                          .current = *store_,
                          .lister = *lister_,
                          .runner = *runner_,
                          .clock = *app_.clock,
                          .progress = progress,
                          .commands = commands_,
                          .publish = publish,
                          .count_artifacts = [this] { return store_->CountArtifacts(); },
                          .events_stored = [this] { delivery_->NotifyEvents(); },
                          .show =
                              [this](SnapshotPtr snapshot) {
                                const std::lock_guard guard(snapshot_mutex_);
                                snapshot_ = std::move(snapshot);
                              },
                          .reload = reload,
                          .open_toolchain = [this](const ToolchainRef& ref) { return OpenToolchain(ref); },
                          .held = [this] { return lock_.TakeChanges(), Held(); },
                          .held_fd = lock_.WatchFd()};
  if (use == Use::kDaemon) {
    parts.open_current = [this]() -> Result<std::unique_ptr<store::CurrentState>> {
      auto another = app_.open_store(app_.settings(), /*read_only=*/true);
      if (!another) return another.error();
      return std::unique_ptr<store::CurrentState>(*std::move(another));
    };
    parts.count_workers = [this](const WorkersOfAll& workers) {
      const std::lock_guard guard(snapshot_mutex_);
      workers_ = workers;
    };
  }
  if (here) parts.available_memory = engine::AvailableMemory;
  loop_ = std::make_unique<engine::Loop>(std::move(parts), *options);
  if (auto started = loop_->Start(); !started) return started;
  // An empty store has nothing to publish, but its state is loaded.
  const std::lock_guard guard(snapshot_mutex_);
  if (!snapshot_) snapshot_ = std::make_shared<const Snapshot>();
  return {};
}

Result<void> Session::Held() const {
  auto held = lock_.Held();
  return held ? store_->StillThere() : held;
}

Result<engine::FurtherToolchain> Session::OpenToolchain(const ToolchainRef& ref) {
  const auto settings = app_.with_toolchain(app_.settings(), ref);
  if (!settings) return settings.error();
  auto toolchain = app_.describe_toolchain(*settings);  // each time: it may have been upgraded
  if (!toolchain) return toolchain.error();
  std::unique_ptr<CaptureRunner>& runner = further_[ref];
  if (!runner) {
    auto made = app_.make_runner(*settings);
    if (!made) return made.error();
    runner = std::move(*made);
  }
  return engine::FurtherToolchain{*std::move(toolchain), runner.get()};
}

void Session::TrimEvents(int keep_sweeps) {
  constexpr int kAtOnce = 2'000, kTimes = 50;  // the rest follow after the next sweep: the loop waits meanwhile
  for (int i = 0; i < kTimes; ++i) {
    const auto trimmed = store_->TrimEvents(event_exporters_, keep_sweeps, kAtOnce);
    if (!trimmed) return app_.log(Level::kWarn, trimmed.error().Within("cannot remove old events").message);
    if (*trimmed < kAtOnce) return;
  }
}

Session::~Session() {
  loop_.reset();                // before the objects that it uses
  app_.give_up.request_stop();  // events that are not accepted by now are sent by the next run
  delivery_.reset();            // its thread reads the store
}

SnapshotPtr Session::LatestSnapshot() const {
  const std::lock_guard guard(snapshot_mutex_);
  return snapshot_;
}

WorkersOfAll Session::Workers() const {
  const std::lock_guard guard(snapshot_mutex_);
  return workers_;
}

std::vector<DeliveryStats> Session::Delivery() const { return delivery_->Stats(); }

std::vector<std::string> Session::Drain(std::stop_token stop) {
  return Drain(app_.settings().delivery.drain_timeout, std::move(stop));
}

std::vector<std::string> Session::Drain(std::chrono::milliseconds timeout, std::stop_token stop) {
  return delivery_->Drain(timeout, std::move(stop));
}

std::vector<std::string> Session::DeliverRest(std::stop_token stop) {
  if (stop.stop_requested()) stop = {};
  const std::vector<std::string> behind = Drain(stop);
  StoreLateEvents(stop);
  PublishDelivery(stop);
  return behind;
}

void Session::StoreLateEvents(const std::stop_token& stop) {
  bool stored = false;
  while (const auto command = commands_.Pop()) {
    if (command->kind != Command::Kind::kStoreEvent) continue;
    const std::array events = {command->event};
    stored = store_->AppendEvents(events).ok() || stored;
  }
  if (!stored) return;
  delivery_->NotifyEvents();
  Drain(kLateEvents, stop);  // the next run sends what unavailable exporters missed
}

void Session::PublishDelivery(const std::stop_token& stop) {
  const std::vector<DeliveryStats> delivery = Delivery();
  is_last_push_ = std::ranges::all_of(delivery, [](const DeliveryStats& stats) {
    return stats.events_pending == 0 && stats.last_success > stats.last_failure;
  });
  delivery_->Publish(LatestSnapshot(), /*urgent=*/true);
  Drain(kLastPush, stop);
}

}  // namespace breakwatch::commands
