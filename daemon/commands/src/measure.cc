// `breakwatch profile` and `breakwatch bench`: sweeps in one of the measure modes, and what they measured.
#include <algorithm>
#include <optional>
#include <set>

#include "breakwatch/config/prices.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/report/measured.h"
#include "breakwatch/report/progress.h"
#include "remote_history.h"
#include "run_request.h"
#include "warnings_only.h"

namespace breakwatch::commands {
namespace {

report::Table BackendTable() {
  static constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
      {kPlain, "the model without torch.compile; always measured in totals"},
      {"eager", "each graph as torch.fx runs it, operator by operator"},
      {"inductor", "each graph compiled by inductor, the default of torch.compile"},
      {"aot_inductor", "each graph compiled ahead of time and run by breakwatch-runner, without Python"},
      {"onnxruntime", "each graph converted to ONNX and run by onnxruntime, where that is possible"},
      {"torchscript", "each graph traced by torch.jit, where that is possible"}};
  report::Table table{.title = {}, .columns = {{"backend", "BACKEND"}, {"meaning", "MEANING"}}, .rows = {}};
  for (const auto& [name, meaning] : kMeanings) table.rows.push_back({std::string(name), std::string(meaning)});
  return table;
}

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

Result<SweepRequest> RequestOf(App& app, std::string_view mode, const SweepOptions& options) {
  auto request = RequestOf(app, options);
  if (!request) return request;
  request->modes = {std::string(mode)};
  request->measure = config::MeasureOptionsOf(app.settings().measure);
  return request;
}

using RenderResults = std::function<std::string(const std::vector<ModelResult>& results, report::Format format)>;

int RunMeasure(App& app, std::string_view mode, const MeasureCommandOptions& options, const RenderResults& render) {
  const auto format = report::ParseFormat(app.json ? "json" : options.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format: expected text, md, csv or json"});
  if (options.list_backends) {
    return Write(app, options.output, report::Render(BackendTable(), *format, StyleOf(app)));
  }
  const SweepOptions& sweep = options.sweep;
  if (sweep.models.empty() && sweep.owner.empty()) {
    return Fail(app, {ErrorCode::kUsage, "name at least one model, or select some with a filter or --owner"});
  }
  const auto request = RequestOf(app, mode, sweep);
  if (!request) return Fail(app, request.error());
  WarningsOnly silent(app);
  auto printer = report::ProgressPrinter::For(app.err, *app.clock);
  const auto done = RunRequest(app, *request, sweep.quiet ? static_cast<ProgressListener&>(silent) : printer);
  if (!done) return Fail(app, done.error());
  const auto results = ResultsOfAll(app, done->swept.sweeps);
  if (!results) return Fail(app, results.error());
  int code = Write(app, options.output, render(*results, *format));
  for (const Sweep& swept : done->swept.sweeps) code = FirstThatApplies(code, CodeOf(app, swept, done->swept.behind));
  if (done->swept.error) return FirstThatApplies(code, Fail(app, WithResumeCommand(app, *done->swept.error)));
  return FirstThatApplies(code, CodeOfResults(app, *results));
}

// The prices of measure.prices_file; nullopt without one.
Result<std::optional<Prices>> PricesOf(const Settings& settings) {
  if (settings.measure.prices_file.empty()) return std::optional<Prices>();
  auto prices = config::ReadPrices(settings.measure.prices_file);
  if (!prices) return prices.error();
  return std::optional(*std::move(prices));
}

}  // namespace

int RunProfile(App& app, const MeasureCommandOptions& options) {
  const auto prices = PricesOf(app.settings());
  if (!prices) return Fail(app, prices.error());
  return RunMeasure(app, kProfileMode, options, [&](const std::vector<ModelResult>& results, report::Format format) {
    const report::Style style = options.output.empty() ? StyleOf(app) : report::Style();
    return report::RenderProfiles(results, *prices ? &**prices : nullptr, format, style);
  });
}

int RunBench(App& app, const MeasureCommandOptions& options) {
  return RunMeasure(app, kBenchMode, options, [&](const std::vector<ModelResult>& results, report::Format format) {
    return report::RenderBench(results, format, options.output.empty() ? StyleOf(app) : report::Style());
  });
}

}  // namespace breakwatch::commands
