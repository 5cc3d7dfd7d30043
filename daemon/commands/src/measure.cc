// `breakwatch profile` and `breakwatch bench`: sweeps in one of the measure modes, and what they measured.
#include <optional>

#include "breakwatch/config/prices.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/report/measured.h"
#include "run_in_mode.h"

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

int RunMeasure(App& app, std::string_view mode, const MeasureCommandOptions& options, const RenderResults& render) {
  if (!options.list_backends) {
    const auto measure = [&](SweepRequest& request) {
      request.measure = config::MeasureOptionsOf(app.settings().measure);
    };
    return RunInMode(app, mode, options.in_mode, measure, render);
  }
  const auto format = report::ParseFormat(app.json ? "json" : options.in_mode.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format: expected text, md, csv or json"});
  return Write(app, options.in_mode.output, report::Render(BackendTable(), *format, StyleOf(app)));
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
    const report::Style style = options.in_mode.output.empty() ? StyleOf(app) : report::Style();
    return report::RenderProfiles(results, *prices ? &**prices : nullptr, format, style);
  });
}

int RunBench(App& app, const MeasureCommandOptions& options) {
  return RunMeasure(app, kBenchMode, options, [&](const std::vector<ModelResult>& results, report::Format format) {
    return report::RenderBench(results, format, options.in_mode.output.empty() ? StyleOf(app) : report::Style());
  });
}

}  // namespace breakwatch::commands
