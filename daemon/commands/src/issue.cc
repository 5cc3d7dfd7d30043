// `breakwatch issue`: a bug report about a model, a reason or a line, as text. Nothing is sent anywhere.
#include "breakwatch/report/issue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/repro.h"
#include "breakwatch/report/progress.h"
#include "commands.h"
#include "remote_history.h"
#include "run_request.h"
#include "signals.h"
#include "site_evidence.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kMaxReproBytes = 60'000;  // GitHub refuses an issue of more than 65,536 characters
constexpr int kMaxSweeps = 1000;                // newest sweeps that are searched for a file
constexpr int kBestFit = 3;                     // a minimal file of the site
constexpr std::size_t kMaxSearched = 20;        // models whose history is searched for the oldest result

Result<std::string> ReadReproFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxReproBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || file.gcount() == 0)
    return Error{ErrorCode::kUsage,
                 "--repro: cannot read " + path + (errno != 0 ? std::string(": ") + std::strerror(errno) : "")};
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxReproBytes)
    return Error{ErrorCode::kUsage, "--repro: " + path + " has more than 60000 bytes, too long for an issue"};
  return text;
}

// Among the newest results of each commit and toolchain that the store has.
Result<report::FirstSeen> FirstSeenOf(store::SweepStore& store, const report::IssueDraft& draft) {
  report::FirstSeen first;
  const auto has = [&](const ModelResult& result) {
    return std::any_of(result.capture.sites.begin(), result.capture.sites.end(), [&](const BreakSite& site) {
      return std::binary_search(draft.site_ids.begin(), draft.site_ids.end(), site.site_id);
    });
  };
  for (const ModelResult* model : std::span(draft.models).first(std::min(kMaxSearched, draft.models.size()))) {
    const auto results = store.NewestResults(
        {.model = model->info.id, .mode = model->capture.mode, .toolchain = {}, .revision = {}, .each_commit = true});
    if (!results) return results.error();
    for (const ModelResult& result : *results) {
      const SystemTime at = result.capture.started_at == SystemTime{} ? result.finished_at : result.capture.started_at;
      if (!has(result) || (first.at != SystemTime{} && first.at <= at)) continue;
      first = {at, result.info.id, result.info.sha, result.capture.toolchain.torch,
               result.capture.toolchain.transformers};
    }
  }
  return first;
}

report::ReproSource SourceOf(const ModelResult& result) {
  const SystemTime at = result.capture.started_at == SystemTime{} ? result.finished_at : result.capture.started_at;
  return {.model = result.info.id, .commit = result.info.sha, .made_at = at, .sweep_id = result.sweep_id};
}

// How well a file fits a report: 0 not at all, kBestFit best.
int FitOf(const Repro& repro, const ModelResult& result, const report::IssueDraft& draft) {
  const Toolchain &made = result.capture.toolchain, &wanted = draft.example->capture.toolchain;
  if (repro.script.empty() || !repro.differs.empty() || repro.script.size() > kMaxReproBytes) return 0;
  if (made.torch != wanted.torch || made.transformers != wanted.transformers) return 0;
  if (repro.site_id == draft.site->site_id) return repro.minimal ? kBestFit : 2;
  const auto& sites = result.capture.sites;
  const bool has = std::any_of(sites.begin(), sites.end(),
                               [&](const BreakSite& site) { return site.site_id == draft.site->site_id; });
  return repro.site_id.empty() && has ? 1 : 0;
}

// A stored file, with where it comes from.
struct StoredFile {
  Repro repro;
  report::ReproSource source;
};

// The best of the stored files that show the report's site, among those the newest; empty if there is none. Each run of
// `repro` is a sweep of its own: the newest result of a model alone may have the file of another site.
Result<StoredFile> StoredRepro(store::SweepStore& store, const report::IssueDraft& draft) {
  const auto sweeps = store.Sweeps(kMaxSweeps);  // the newest first
  if (!sweeps) return sweeps.error();
  StoredFile best;
  int fit = 0;
  for (const Sweep& sweep : *sweeps) {
    const bool may_have =
        sweep.modes.contains(std::string(kReproMode)) && sweep.toolchain.name == draft.example->capture.toolchain.name;
    if (!may_have) continue;
    const auto results = store.Results(sweep.id);
    if (!results) return results.error();
    for (const ModelResult& result : *results) {
      const bool is_of_the_report =
          result.capture.mode == kReproMode &&
          std::any_of(draft.models.begin(), draft.models.end(),
                      [&](const ModelResult* model) { return model->info.id == result.info.id; });
      auto repro = is_of_the_report ? ReadRepro(result.capture.mode_detail_json) : Result<Repro>(Repro{});
      const int this_fit = repro ? FitOf(*repro, result, draft) : 0;
      if (this_fit <= fit) continue;
      fit = this_fit;
      best = {*std::move(repro), SourceOf(result)};
    }
    if (fit == kBestFit) break;
  }
  return best;
}

// Captures the example in mode `repro`, from its config in the sweep's plan.
Result<void> MakeRepro(App& app, store::SweepStore& store, const Sweep& sweep, const report::IssueDraft& draft) {
  auto plan = store.LoadPlan(sweep.id);
  if (!plan) return plan.error();
  std::erase_if(plan->models, [&](const PlannedModel& planned) {
    return planned.info.id != draft.example->info.id || planned.mode != draft.example->capture.mode;
  });
  if (plan->models.empty())
    return Error{ErrorCode::kNotFound, "the plan of sweep " + sweep.id + " does not have " + draft.example->info.id};
  PlannedModel& planned = plan->models.front();
  planned.mode = kReproMode, planned.measure_json.clear(), planned.fix_json.clear(), planned.repeat = 1;
  planned.repro_json = ReproJson({.site = draft.site->site_id, .minimal = true});
  SweepRequest request;
  request.modes = {std::string(kReproMode)};
  request.toolchain.name = sweep.toolchain.name;
  request.repro = ReproOptions{.site = draft.site->site_id, .minimal = true};
  request.saved_plan = *std::move(plan);
  Complain(app, "making a file that shows the break in " + draft.example->info.id + ": this takes a minute or two");
  auto printer = report::ProgressPrinter::For(app.err, *app.clock);
  const auto done = RunRequest(app, request, printer);
  if (!done) return done.error();
  return done->swept.error ? Result<void>(*done->swept.error) : Result<void>();
}

// The file to include: the user's own, a stored one, or with --with-repro a new one.
Result<StoredFile> ReproFor(App& app, const IssueOptions& options, store::SweepStore& store, const Sweep& sweep,
                            const report::IssueDraft& draft) {
  if (!options.repro.empty()) {
    auto text = ReadReproFile(options.repro);
    if (!text) return text.error();
    StoredFile own;
    own.repro.script = *std::move(text);
    return own;
  }
  auto file = StoredRepro(store, draft);
  if (file && options.with_repro && !(file->repro.minimal && file->repro.site_id == draft.site->site_id)) {
    const auto made = MakeRepro(app, store, sweep, draft);
    if (!made && made.error().code == ErrorCode::kInterrupted) return made.error();
    if (!made) Complain(app, made.error().message);  // the report is worth having without the file
    auto fresh = OpenHistory(app);
    if (!fresh) return fresh.error();
    file = StoredRepro(**fresh, draft);
    if (file && file->repro.script.empty())
      Complain(app, "no file shows the break: see `breakwatch show " + draft.example->info.id + " --mode repro`");
  }
  return file;
}

}  // namespace

int RunIssue(App& app, const IssueOptions& options) {
  const auto tracker = options.tracker == "torch"          ? report::Tracker::kTorch
                       : options.tracker == "transformers" ? report::Tracker::kTransformers
                                                           : report::Tracker::kAuto;
  if (auto checked = CheckOutput(options.output); !checked) return Fail(app, checked.error());
  std::optional<ExitOnSignals> at_once;  // a sweep takes signals as requests to stop
  if (!options.with_repro) at_once.emplace();
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto evidence = LoadEvidence(app, **store, options.sweep, options.mode, {});
  if (!evidence) return Fail(app, evidence.error());
  const auto draft = report::DraftIssue(evidence->View(), options.target, tracker);
  if (!draft) return Fail(app, draft.error());
  const auto repro = ReproFor(app, options, **store, evidence->sweep, *draft);
  if (!repro) return Fail(app, repro.error());
  const auto first = FirstSeenOf(**store, *draft);
  if (!first) return Fail(app, first.error());
  return Write(
      app, options.output,
      report::RenderIssue(*draft, evidence->View(), *first, repro->repro.script, repro->source, FormatOf(app)));
}

}  // namespace breakwatch::commands
