// `breakwatch bisect MODEL`: finds the two states, captures the combinations between them, and reports the cause.
#include <algorithm>
#include <bit>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "bisect_toolchain.h"
#include "breakwatch/compare/attribute.h"
#include "breakwatch/compare/compare.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/compare.h"
#include "breakwatch/report/progress.h"
#include "commands.h"
#include "session.h"
#include "signals.h"
#include "warnings_only.h"

namespace breakwatch::commands {
namespace {

using compare::kCommit;
using compare::kTorch;
using compare::kTransformers;

// A toolchain with the interpreter of its worker, and what is installed there.
struct Tools {
  ToolchainRef toolchain;
  Toolchain versions;
};

// One end: a toolchain and the model's configuration at a commit.
struct State {
  Tools tools;
  PlannedModel model;
};

struct EndText {
  std::string toolchain, revision;
};

// The store writes a configuration in its own format, and the Hub has the repository's.
bool IsSameConfig(const std::string& a, const std::string& b) {
  return a == b || nlohmann::json::parse(a, nullptr, /*allow_exceptions=*/false) ==
                       nlohmann::json::parse(b, nullptr, /*allow_exceptions=*/false);
}

bool IsRevision(const std::string& text) {
  return text.size() >= 4 && text.size() <= 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

class Bisector {
 public:
  Bisector(App& app, const BisectOptions& options, ProgressListener& progress)
      : app_(app), options_(options), progress_(progress) {}

  Result<compare::Bisection> Run();
  // Delivers the events of the captures, within the time limit.
  void Finish();

 private:
  Settings& settings() { return app_.loaded.settings; }
  Result<void> OpenStore();
  Result<Tools> FindTools(const std::string& name);
  EndText Parse(const std::string& text);
  Result<PlannedModel> ModelAt(const std::string& revision);
  Result<PlannedModel> Listed(const std::string& revision);
  Result<EndText> EarlierState(const State& to);
  Result<State> MakeState(const EndText& text);
  unsigned Factors() const;
  Result<Tools> ToolsOf(unsigned combination);
  Result<Tools> Mixed(const Tools& torch, const Tools& rest);
  std::optional<ModelResult> Known(const Tools& tools, const PlannedModel& model);
  Result<Sweep> SweepOne(const SweepRequest& request);
  Result<ModelResult> Capture(const Tools& tools, const PlannedModel& model);
  Result<compare::CombinationResult> ResultOf(unsigned combination);

  App& app_;
  const BisectOptions& options_;
  ProgressListener& progress_;
  std::unique_ptr<store::SweepStore> store_;
  std::unique_ptr<Session> session_;
  std::set<std::string> behind_;  // exporters that did not accept everything in time
  std::string model_;
  State from_, to_;
  unsigned factors_ = 0;
};

Result<void> Bisector::OpenStore() {
  auto store = app_.open_store(settings(), /*read_only=*/true);
  // Before the first sweep there is no store to read, so everything is captured.
  if (!store && store.error().code == ErrorCode::kNotFound) store = app_.open_store(settings(), /*read_only=*/false);
  if (!store) return store.error();
  store_ = std::move(*store);
  return {};
}

Result<Tools> Bisector::FindTools(const std::string& name) {
  const auto with = app_.with_toolchain(settings(), {name});
  if (!with) return with.error();
  auto versions = app_.describe_toolchain(*with);
  if (!versions) return versions.error().Within("toolchain " + name);
  return Tools{{name, with->capture.worker.front()}, *std::move(versions)};
}

// TOOLCHAIN, COMMIT or TOOLCHAIN@COMMIT.
EndText Bisector::Parse(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at != std::string::npos) return {text.substr(0, at), text.substr(at + 1)};
  if (IsRevision(text) && !app_.with_toolchain(settings(), {text})) return {"", text};
  return {text, ""};
}

Result<PlannedModel> Bisector::Listed(const std::string& revision) {
  auto lister = app_.make_lister(settings());
  if (!lister) return lister.error();
  ListRequest request = settings().hub.list;
  request.ids = {revision.empty() ? model_ : model_ + "@" + revision};
  auto list = (*lister)->List(request, {}, [](int, int) {});
  if (!list) return list.error();
  for (RankedModel& model : list->models) {
    if (model.config_json.empty()) return Error{ErrorCode::kNotFound, model_ + ": " + model.detail};
    PlannedModel planned;
    planned.info = std::move(model.info), planned.config_json = std::move(model.config_json);
    return planned;
  }
  return Error{ErrorCode::kNotFound, request.ids.front() + ": not found"};
}

// From the store, which keeps the configuration of every planned commit. Otherwise from the Hub or its cache.
Result<PlannedModel> Bisector::ModelAt(const std::string& revision) {
  auto results = store_->NewestResults({.model = model_, .mode = {}, .toolchain = {}, .revision = revision});
  if (!results) return results.error();
  const auto is_primary = [&](const ModelResult& result) {
    return result.capture.toolchain.name == settings().capture.toolchain;
  };
  std::stable_sort(results->begin(), results->end(), [&](const auto& a, const auto& b) {
    return std::pair(is_primary(a), a.finished_at) > std::pair(is_primary(b), b.finished_at);
  });
  // The last capture of a bisection may be of an old commit. Without a sweep, only the Hub knows the newest one.
  if (revision.empty() && (results->empty() || !is_primary(results->front()))) {
    if (auto listed = Listed(revision)) return listed;
  }
  for (const ModelResult& result : *results) {
    auto plan = store_->LoadPlan(result.sweep_id);
    if (!plan) return plan.error();
    for (PlannedModel& planned : plan->models) {
      if (planned.info.id == model_ && !planned.config_json.empty()) return std::move(planned);
    }
  }
  return Listed(revision);
}

// The newest stored state that breaks differently from the new one and can still be captured.
Result<EndText> Bisector::EarlierState(const State& to) {
  auto results = store_->NewestResults(
      {.model = model_, .mode = options_.mode, .toolchain = {}, .revision = {}, .each_commit = true});
  if (!results) return results.error();
  const auto now = Known(to.tools, to.model);
  std::string gone;
  for (const ModelResult& result : *results) {
    const CaptureResult& capture = result.capture;
    const bool alike = capture.toolchain.torch == to.tools.versions.torch &&
                       capture.toolchain.transformers == to.tools.versions.transformers &&
                       result.info.sha == to.model.info.sha;
    const BisectToolchain by = ParseBisectToolchain(capture.toolchain.name);
    if (alike || !HasNumbers(capture.status) || by.kind == BisectToolchain::Kind::kMixed) continue;
    if (now) {
      const auto change = compare::CompareModel(result, *now);
      if (change.new_sites.empty() && change.gone_sites.empty() && change.changed_sites.empty()) continue;
    }
    const auto tools = FindTools(by.name);
    if (tools && tools->versions.torch == capture.toolchain.torch &&
        tools->versions.transformers == capture.toolchain.transformers) {
      return EndText{by.name, result.info.sha};
    }
    gone = "; " + capture.toolchain.Key() + " broke differently, but is no longer installed";
  }
  return Error{ErrorCode::kUsage,
               "no stored result of " + model_ + " breaks differently" + gone + "; name the old state with --from"};
}

Result<State> Bisector::MakeState(const EndText& text) {
  auto tools = FindTools(text.toolchain.empty() ? settings().capture.toolchain : text.toolchain);
  if (!tools) return tools.error();
  auto model = ModelAt(text.revision);
  if (!model) return model.error();
  model->mode = options_.mode;
  return State{*std::move(tools), *std::move(model)};
}

unsigned Bisector::Factors() const {
  unsigned factors = 0;
  if (from_.tools.versions.torch != to_.tools.versions.torch) factors |= kTorch;
  if (from_.tools.versions.transformers != to_.tools.versions.transformers) factors |= kTransformers;
  // Commits with equal configurations have one structure: the weights and code of a repository are not compared.
  if (!IsSameConfig(from_.model.config_json, to_.model.config_json)) factors |= kCommit;
  return factors;
}

Result<Tools> Bisector::Mixed(const Tools& torch, const Tools& rest) {
  for (const ToolchainRef& configured : settings().capture.toolchains) {
    const auto tools = FindTools(configured.name);
    if (tools && tools->versions.torch == torch.versions.torch &&
        tools->versions.transformers == rest.versions.transformers) {
      return tools;
    }
  }
  const BisectToolchain mixed{BisectToolchain::Kind::kMixed,
                              "torch" + torch.versions.torch + "-transformers" + rest.versions.transformers};
  const std::string name = mixed.StoredName();
  std::error_code ignored;
  const auto folder = std::filesystem::absolute(settings().state_dir, ignored) / "toolchains" / name;
  if (auto made = app_.compose_toolchain(torch.toolchain.python, rest.toolchain.python, folder.string()); !made)
    return made.error();
  settings().capture.toolchains.push_back({name, (folder / "bin" / "python").string()});
  auto tools = FindTools(name);
  if (tools &&
      (tools->versions.torch != torch.versions.torch || tools->versions.transformers != rest.versions.transformers)) {
    return Error{ErrorCode::kInternal, "the combined environment has " + tools->versions.Key()};
  }
  return tools;
}

Result<Tools> Bisector::ToolsOf(unsigned combination) {
  const State& torch = (combination & kTorch) || !(factors_ & kTorch) ? to_ : from_;
  const State& rest = (combination & kTransformers) || !(factors_ & kTransformers) ? to_ : from_;
  if (!(factors_ & kTorch)) return rest.tools;
  if (!(factors_ & kTransformers) || &torch == &rest) return torch.tools;
  return Mixed(torch.tools, rest.tools);
}

// A stored result with the same versions, worker, mode and configuration.
std::optional<ModelResult> Bisector::Known(const Tools& tools, const PlannedModel& model) {
  auto results = store_->NewestResults(
      {.model = model_, .mode = options_.mode, .toolchain = {}, .revision = model.info.sha, .each_commit = true});
  if (!results) return std::nullopt;
  for (ModelResult& result : *results) {
    const Toolchain& by = result.capture.toolchain;
    const Toolchain& wanted = tools.versions;
    if (by.torch == wanted.torch && by.transformers == wanted.transformers && by.python == wanted.python &&
        by.worker == wanted.worker && by.device == wanted.device && IsReusable(result.capture.status)) {
      return std::move(result);
    }
  }
  return std::nullopt;
}

// Runs a sweep in the daemon of the state directory, if one is running. Otherwise in a session owned by this object.
Result<Sweep> Bisector::SweepOne(const SweepRequest& request) {
  if (!session_) {
    auto followed = HandOver(app_, request, progress_);
    if (!followed) return followed.error();
    if (*followed) {
      behind_.insert((*followed)->behind.begin(), (*followed)->behind.end());
      return std::move((*followed)->sweeps.front());
    }
    auto opened = Session::Open(app_, progress_);
    if (!opened) return opened.error();
    session_ = std::move(*opened);
  }
  const Signals signals(session_->commands(), [&] { return request; });
  return session_->loop().RunSweep(request);
}

// Runs a sweep of one model by a further toolchain, so that the published numbers remain those of the primary one.
Result<ModelResult> Bisector::Capture(const Tools& tools, const PlannedModel& model) {
  SweepRequest request;
  request.trigger = SweepTrigger::kBisect;
  const bool is_primary = tools.toolchain.name == settings().capture.toolchain;
  const auto kind = is_primary ? BisectToolchain::Kind::kPrimary : BisectToolchain::Kind::kConfigured;
  request.toolchain.name = BisectToolchain{kind, tools.toolchain.name}.StoredName();
  std::error_code ignored;
  const auto python = std::filesystem::absolute(tools.toolchain.python, ignored);
  // If the path does not exist here, it is relative to the project's folder, for the daemon and for this process.
  request.toolchain.python = std::filesystem::exists(python, ignored) ? python.string() : tools.toolchain.python;
  request.modes = {options_.mode};
  request.saved_plan.emplace();
  request.saved_plan->source = "bisect of " + model_;
  request.saved_plan->models = {model};
  const auto sweep = SweepOne(request);
  if (!sweep) return sweep.error();
  auto results = store_->Results(sweep->id);
  if (!results) return results.error();
  if (results->empty()) return Error{ErrorCode::kInternal, "sweep " + sweep->id + " has no result"};
  return std::move(results->front());
}

bool EndsAll(const Error& error) {
  return error.code == ErrorCode::kInterrupted || error.code == ErrorCode::kStore || error.code == ErrorCode::kConfig;
}

// Error: the bisection cannot continue. If a combination cannot be captured, its result is absent and `why` has the
// reason.
Result<compare::CombinationResult> Bisector::ResultOf(unsigned combination) {
  const PlannedModel& model = (combination & kCommit) || !(factors_ & kCommit) ? to_.model : from_.model;
  const auto side = [&](unsigned factor) -> const State& { return combination & factor ? to_ : from_; };
  compare::CombinationResult out;
  out.combination = combination, out.commit = model.info.sha;
  out.torch = side(kTorch).tools.versions.torch;
  out.transformers = side(kTransformers).tools.versions.transformers;
  const auto tools = ToolsOf(combination);
  if (!tools) {
    out.why = tools.error().message;
    return EndsAll(tools.error()) ? Result<compare::CombinationResult>(tools.error()) : out;
  }
  out.toolchain = tools->toolchain.name;
  if (auto known = Known(*tools, model)) {
    out.result = std::move(known);
    return out;
  }
  auto captured = Capture(*tools, model);
  if (!captured) {
    out.why = captured.error().message;
    return EndsAll(captured.error()) ? Result<compare::CombinationResult>(captured.error()) : out;
  }
  if (IsIncomplete(captured->capture.status)) {
    out.why = captured->capture.detail;  // its worker does not start
  } else {
    out.result = *std::move(captured);
  }
  return out;
}

Result<compare::Bisection> Bisector::Run() {
  if (auto opened = OpenStore(); !opened) return opened.error();
  const auto found = FindModel(*store_, options_.model);
  if (!found && options_.model.find('/') == std::string::npos) return found.error();
  model_ = found ? *found : options_.model;
  auto to = MakeState(Parse(options_.to));
  if (!to) return to.error().Within("the new state");
  to_ = *std::move(to);
  auto earlier = options_.from.empty() ? EarlierState(to_) : Result<EndText>(Parse(options_.from));
  if (!earlier) return earlier.error();
  if (earlier->revision.empty()) earlier->revision = to_.model.info.sha;
  auto from = MakeState(*earlier);
  if (!from) return from.error().Within("the old state");
  from_ = *std::move(from);
  factors_ = Factors();
  if (factors_ == 0) {
    return Error{ErrorCode::kUsage, "both states have the same torch, transformers and configuration (" +
                                        to_.tools.versions.Key() + "): there is nothing to compare"};
  }
  std::vector<compare::CombinationResult> combinations;
  // The two ends come first: without them no cause can be found.
  for (unsigned combination = 0; combination <= factors_; ++combination) {
    if (combination & ~factors_) continue;
    auto result = ResultOf(combination);
    if (!result) return result.error();
    combinations.push_back(*std::move(result));
  }
  return compare::Bisect(model_, factors_, std::move(combinations));
}

void Bisector::Finish() {
  if (session_) {
    const Signals signals(session_->commands(), [] { return SweepRequest(); });
    const auto behind = session_->DeliverRest(signals.Stop());
    behind_.insert(behind.begin(), behind.end());
  }
  for (const std::string& exporter : behind_) {
    app_.log(Level::kWarn, exporter + " did not accept everything: see `breakwatch events status`");
  }
}

}  // namespace

int RunBisect(App& app, const BisectOptions& options) {
  const auto format = report::ParseFormat(app.json ? "json" : options.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format: expected text, md, csv or json"});
  WarningsOnly silent(app);
  auto printer = report::ProgressPrinter::For(app.err, *app.clock);
  Bisector bisector(app, options, options.quiet ? static_cast<ProgressListener&>(silent) : printer);
  const auto bisection = bisector.Run();
  bisector.Finish();
  if (!bisection) return Fail(app, bisection.error());
  const int code = Write(app, options.output, report::RenderBisection(*bisection, *format, StyleOf(app)));
  if (code != kExitOk) return code;
  return bisection->verdict.cause == compare::Cause::kUnknown ? kExitIncomplete : kExitOk;
}

}  // namespace breakwatch::commands
