#include "run_in_mode.h"

#include <algorithm>
#include <set>

#include "breakwatch/report/progress.h"
#include "remote_history.h"
#include "run_request.h"
#include "warnings_only.h"

namespace breakwatch::commands {
namespace {

// The results of all sweeps, those of the first toolchain first.
Result<std::vector<ModelResult>> ResultsOfAll(const App& app, const std::vector<Sweep>& sweeps) {
  auto store = OpenHistory(app);
  if (!store) return store.error();
  std::vector<ModelResult> all;
  for (const Sweep& sweep : sweeps) {
    auto results = (*store)->Results(sweep.id);
    if (!results) return results.error();
    std::move(results->begin(), results->end(), std::back_inserter(all));
  }
  return all;
}

int CodeOfResults(const App& app, const std::vector<ModelResult>& results) {
  std::set<std::string> missing;
  for (const ModelResult& result : results) {
    if (result.capture.status == Status::kSkippedNotFound) missing.insert(result.info.id);
  }
  for (const std::string& model : missing) Fail(app, {ErrorCode::kNotFound, model + " not found"});
  const bool any = std::any_of(results.begin(), results.end(),
                               [](const ModelResult& result) { return HasNumbers(result.capture.status); });
  return any && missing.empty() ? kExitOk : kExitFailure;
}

}  // namespace

int RunInMode(App& app, std::string_view mode, const ModeCommandOptions& options,
              const std::function<void(SweepRequest& request)>& complete, const RenderResults& render) {
  const auto format = report::ParseFormat(app.json ? "json" : options.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format: expected text, md, csv or json"});
  const SweepOptions& sweep = options.sweep;
  if (sweep.models.empty() && sweep.owner.empty()) {
    return Fail(app, {ErrorCode::kUsage, "name at least one model, or select some with a filter or --owner"});
  }
  if (auto checked = CheckOutput(options.output); !checked) return Fail(app, checked.error());
  auto request = RequestOf(app, sweep);
  if (!request) return Fail(app, request.error());
  request->modes = {std::string(mode)};
  complete(*request);
  WarningsOnly silent(app);
  auto printer = report::ProgressPrinter::For(app.err, *app.clock);
  const auto done = RunRequest(app, *request, sweep.quiet ? static_cast<ProgressListener&>(silent) : printer);
  if (!done) return Fail(app, done.error());
  const auto results = ResultsOfAll(app, done->swept.sweeps);
  if (!results) return Fail(app, results.error());
  const std::string text = render(*results, *format);
  int code = text.empty() ? kExitOk : Write(app, options.output, text);  // a file with nothing to say stays as it was
  for (const Sweep& swept : done->swept.sweeps) code = FirstThatApplies(code, CodeOf(app, swept, done->swept.behind));
  if (done->swept.error) return FirstThatApplies(code, Fail(app, WithResumeCommand(app, *done->swept.error)));
  return FirstThatApplies(code, CodeOfResults(app, *results));
}

}  // namespace breakwatch::commands
