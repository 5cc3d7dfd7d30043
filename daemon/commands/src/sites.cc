// `breakwatch reasons --sites`: the lines of code that break graphs, and which few of them to change first.
#include <algorithm>

#include "breakwatch/core/mode.h"
#include "breakwatch/report/site_costs.h"
#include "commands.h"
#include "remote_history.h"

namespace breakwatch::commands {
namespace {

// The newest results of one mode for the models of a sweep. They say what other toolchains and the tried fixes found.
Result<std::vector<ModelResult>> NewestOf(store::SweepStore& store, const std::string& mode,
                                          const std::string& toolchain) {
  return store.NewestResults({.model = {}, .mode = mode, .toolchain = toolchain, .revision = {}});
}

}  // namespace

int RunSites(App& app, const ReasonsOptions& options) {
  const auto order = report::ParseSiteOrder(options.by.empty() ? "models" : options.by);
  if (!order) return Fail(app, {ErrorCode::kUsage, "--by: of --sites, expected models, downloads, events or leverage"});
  const std::string mode = options.mode.empty() ? std::string(kMainMode) : options.mode;
  if (!IsMode(mode)) return Fail(app, {ErrorCode::kUsage, "unknown mode \"" + mode + "\""});
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto sweep = (*store)->FindSweep(options.sweep);
  if (!sweep) return Fail(app, sweep.error());
  auto results = (*store)->Results(sweep->id);
  if (!results) return Fail(app, results.error());
  if (auto kept = KeepSelected(app, options.selection, *results); !kept) return Fail(app, kept.error());
  std::erase_if(*results, [&](const ModelResult& result) { return result.capture.mode != mode; });
  auto others = NewestOf(**store, mode, {});
  if (!others) return Fail(app, others.error());
  std::erase_if(*others,
                [&](const ModelResult& other) { return other.capture.toolchain.name == sweep->toolchain.name; });
  const auto tried = NewestOf(**store, std::string(kFixMode), sweep->toolchain.name);
  if (!tried) return Fail(app, tried.error());
  const report::SiteEvidence evidence{
      .results = *results, .other_toolchains = *others, .tried = *tried, .sweep_id = sweep->id};
  const report::SiteOptions sites{.order = *order,
                                  .limit = static_cast<std::size_t>(std::max(0, options.limit)),
                                  .lines = static_cast<std::size_t>(options.lines)};
  Print(app, report::RenderSiteCosts(evidence, sites, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

}  // namespace breakwatch::commands
