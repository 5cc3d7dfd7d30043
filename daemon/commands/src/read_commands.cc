// The commands that read: show, reasons, report. They always work, also beside a running sweep.
#include <fstream>

#include "breakwatch/core/text.h"
#include "breakwatch/report/sweep.h"
#include "commands.h"

namespace breakwatch::commands {
namespace {

struct StoredSweep {
  Sweep sweep;
  std::vector<ModelResult> results;
};

Result<StoredSweep> LoadSweep(store::Store& store, const std::string& id) {
  auto sweep = store.FindSweep(id);
  if (!sweep) return sweep.error();
  auto results = store.Results(sweep->id);
  if (!results) return results.error();
  return StoredSweep{std::move(*sweep), std::move(*results)};
}

Result<StoredSweep> LoadSweep(App& app, const std::string& id) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return store.error();
  return LoadSweep(**store, id);
}

// A model by its id, or by a part of the id that only one model has.
Result<std::string> FindModel(store::Store& store, const std::string& selector) {
  const auto models = store.Models();
  if (!models) return models.error();
  std::vector<std::string> matches;
  for (const std::string& model : *models) {
    if (model == selector) return model;
    if (model.find(selector) != std::string::npos) matches.push_back(model);
  }
  if (matches.size() == 1) return matches.front();
  std::string message = "no result of a model \"" + selector + "\"";
  if (matches.size() > 1) {
    message = "\"" + selector + "\" is part of " + std::to_string(matches.size()) + " models: ";
    for (std::size_t i = 0; i < matches.size() && i < 5; ++i) message += (i == 0 ? "" : ", ") + matches[i];
    if (matches.size() > 5) message += ", ...";
  } else if (const auto nearest = NearestName(selector, *models)) {
    message += "; did you mean \"" + *nearest + "\"?";
  }
  return Error{ErrorCode::kUsage, message};
}

Result<ModelResult> FindResult(store::Store& store, const ShowOptions& options) {
  const auto model = FindModel(store, options.model);
  if (!model) return model.error();
  if (options.sweep.empty()) {
    auto result = store.LatestResult(*model);
    if (!result) return result.error();
    if (*result) return std::move(**result);
  } else {
    auto sweep = LoadSweep(store, options.sweep);
    if (!sweep) return sweep.error();
    for (ModelResult& result : sweep->results) {
      if (result.info.id == *model) return std::move(result);
    }
  }
  return Error{ErrorCode::kNotFound,
               "no result of " + *model + (options.sweep.empty() ? "" : " in sweep " + options.sweep)};
}

int Write(const App& app, const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") {
    Print(app, text);
    return kExitOk;
  }
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  if (!file.flush()) return Fail(app, {ErrorCode::kStore, "cannot write " + path});
  return kExitOk;
}

}  // namespace

int RunShow(App& app, const ShowOptions& options) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto result = FindResult(**store, options);
  if (!result) return Fail(app, result.error());
  Print(app, report::RenderModel(*result, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

int RunReasons(App& app, const ReasonsOptions& options) {
  const auto order = report::ParseReasonOrder(options.by);
  if (!order) return Fail(app, {ErrorCode::kUsage, "--by should be events, sites, models or leverage"});
  const auto sweep = LoadSweep(app, options.sweep);
  if (!sweep) return Fail(app, sweep.error());
  const auto table = report::ReasonTable(sweep->results, *order, static_cast<std::size_t>(std::max(0, options.limit)));
  Print(app, report::Render(table, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

int RunReport(App& app, const ReportOptions& options) {
  const auto format = report::ParseFormat(app.json ? "json" : options.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format should be text, md, csv or json"});
  if (options.list) {
    auto store = app.open_store(app.settings(), /*read_only=*/true);
    if (!store) return Fail(app, store.error());
    const auto sweeps = (*store)->Sweeps(100);
    if (!sweeps) return Fail(app, sweeps.error());
    return Write(app, options.output, report::Render(report::SweepsTable(*sweeps), *format, StyleOf(app)));
  }
  const auto sweep = LoadSweep(app, options.sweep);
  if (!sweep) return Fail(app, sweep.error());
  return Write(app, options.output, report::RenderSweep(sweep->sweep, sweep->results, *format, StyleOf(app)));
}

}  // namespace breakwatch::commands
