#include "run_request.h"

#include <map>
#include <set>

#include "breakwatch/config/keys.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/directory.h"
#include "local_gateway.h"
#include "remote_sweep.h"
#include "session.h"
#include "signals.h"
#include "sweep_files.h"

namespace breakwatch::commands {
namespace {

// True if a sweep request contains this setting. A resumed sweep keeps the settings of its plan. A running daemon
// accepts only these settings.
bool IsOfARequest(const std::string& key) {
  static const std::set<std::string, std::less<>> kOfARequest{
      "capture.calls",   "capture.fix",      "capture.fix_attempt", "capture.fix_budget", "capture.modes",
      "hub.author",      "hub.filters",      "hub.gated",           "hub.library",        "hub.max_params",
      "hub.min_params",  "hub.per_family",   "hub.search",          "hub.sort",           "hub.task",
      "hub.top",         "measure.backends", "measure.batches",     "measure.device",     "measure.dtype",
      "measure.dynamic", "measure.full",     "measure.min_runs",    "measure.min_time",   "measure.seq",
      "measure.threads", "sweep.rebuild",    "measure.prices_file"};  // the command itself reads it
  return kOfARequest.contains(key);
}

// The flags on the command line that a request contains, or all others.
std::string FlagsTyped(const App& app, bool of_a_request) {
  std::string flags;
  for (const auto& [key, origin] : app.loaded.origins) {
    if (origin.kind != config::Origin::Kind::kFlag || key == "state_dir" || key.starts_with("log.")) continue;
    if (IsOfARequest(key) == of_a_request) flags += (flags.empty() ? "--" : ", --") + key;
  }
  return flags;
}

void NameFlagsWithoutEffect(const App& app, const std::string& why, const std::string& flags) {
  if (!flags.empty()) app.log(Level::kWarn, why + "; ignored: " + flags);
}

bool DidDaemonReport(const App& app, const std::vector<Sweep>& sweeps) {
  if (AreReported(app.settings().state_dir, sweeps)) return true;
  Fail(app, {ErrorCode::kStore, "the sweep is stored, but the daemon of " + app.settings().state_dir +
                                    " did not write its report; see its log"});
  return false;
}

// The command that resumes an interrupted sweep.
std::string ResumeCommand(const App& app) {
  std::string command = "breakwatch sweep --resume";
  for (const std::string& file : app.sources.files) command += " --config.file " + ShellQuoted(file);
  std::map<std::string, std::string> names;
  for (const config::Flag& flag : config::Flags()) names[flag.key] = flag.names.back();
  for (const auto& [key, values] : app.sources.flags) {
    if (IsOfARequest(key)) continue;
    for (const std::string& value : values) command += " " + names[key] + "=" + ShellQuoted(value);
  }
  return command;
}

// The newest sweep in the store, if its report was missing. Everything except the report was done, so writing it
// completes the resumption. Older sweeps whose reports were also written were not requested.
std::optional<Sweep> NewestAmong(const App& app, const std::vector<Sweep>& reported) {
  const auto store = app.open_store(app.settings(), /*read_only=*/true);
  const auto newest = store ? (*store)->Sweeps(1) : Result<std::vector<Sweep>>(store.error());
  const bool is_among = newest && !newest->empty() && !reported.empty() && reported.back().id == newest->front().id;
  return is_among ? std::optional(reported.back()) : std::nullopt;
}

Result<RequestDone> SweepHere(App& app, const SweepRequest& request, ProgressListener& progress) {
  Fanout fanout;
  SweepFiles files(app);
  fanout.Add(progress);
  fanout.Add(files);
  auto session = Session::Open(app, fanout);
  if (!session) return session.error();
  const Signals signals((*session)->commands(), [&] { return request; });
  files.OnTrim([&](int keep_sweeps) { (*session)->TrimEvents(keep_sweeps); });
  const auto made_up = SweepFiles(app).WriteMissing();
  auto swept = (*session)->loop().RunByEveryToolchain(request);
  if (request.resume && swept.sweeps.empty() && swept.error->code == ErrorCode::kNotFound) {
    if (const auto newest = NewestAmong(app, made_up)) swept = {{*newest}, std::nullopt};
  }
  const std::vector<std::string> behind = (*session)->DeliverRest(signals.Stop());  // also a failure's time
  if (swept.sweeps.empty()) return WithResumeCommand(app, *swept.error);
  return RequestDone{{swept.sweeps, behind, swept.error}, /*by_us=*/true, !files.failed()};
}

}  // namespace

Error WithResumeCommand(const App& app, Error error) {
  if (error.code != ErrorCode::kInterrupted || !app.server.empty()) return error;
  const auto store = app.open_store(app.settings(), /*read_only=*/true);
  const auto unfinished = store ? (*store)->NewestUnfinished() : Result<std::optional<Sweep>>(std::optional<Sweep>());
  if (unfinished && *unfinished) error.message += "; to continue: " + ResumeCommand(app);
  return error;
}

void NameFlagsOfThePlan(const App& app, const SweepOptions& options) {
  const std::string planned_by = FlagsTyped(app, /*of_a_request=*/true);
  const std::string toolchain = options.toolchain.empty() ? "" : planned_by.empty() ? "--toolchain" : ", --toolchain";
  NameFlagsWithoutEffect(app, "a resumed sweep keeps its plan", planned_by + toolchain);
}

Result<SweepRequest> RequestOf(App& app, SweepOptions options) {
  if (auto selected = SelectModels(options); !selected) return selected.error();
  auto models = ResolveSelectors(app, options.models);
  if (!models) return models.error();
  options.models = std::move(*models);
  return MakeRequest(app.settings(), options);
}

Result<RequestDone> RunRequest(App& app, const SweepRequest& request, ProgressListener& progress, bool local_gateway) {
  if (!app.server.empty()) {
    NameFlagsWithoutEffect(app, "the daemon at " + app.server + " uses its own settings",
                           FlagsTyped(app, /*of_a_request=*/false));
    auto swept = SweepThere(app, request, progress);
    if (!swept) return swept.error();
    return RequestDone{*std::move(swept), /*by_us=*/false, /*reported=*/true};
  }
  auto followed = HandOver(app, request, progress);
  if (!followed) return followed.error();
  if (*followed) {
    NameFlagsWithoutEffect(app, "the daemon of " + app.settings().state_dir + " uses its own settings",
                           FlagsTyped(app, /*of_a_request=*/false));
    const bool reported = DidDaemonReport(app, (*followed)->sweeps);
    return RequestDone{**std::move(followed), /*by_us=*/false, reported};
  }
  if (local_gateway) UseLocalGateway(app);
  return SweepHere(app, request, progress);
}

}  // namespace breakwatch::commands
