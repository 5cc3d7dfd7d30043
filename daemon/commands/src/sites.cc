// `breakwatch reasons --sites`: the lines of code that break graphs, and which few of them to change first.
#include <algorithm>

#include "breakwatch/report/site_costs.h"
#include "commands.h"
#include "remote_history.h"
#include "site_evidence.h"

namespace breakwatch::commands {

int RunSites(App& app, const ReasonsOptions& options) {
  const auto order = report::ParseSiteOrder(options.by.empty() ? "models" : options.by);
  if (!order) return Fail(app, {ErrorCode::kUsage, "--by: of --sites, expected models, downloads, events or leverage"});
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto evidence = LoadEvidence(app, **store, options.sweep, options.mode, options.selection);
  if (!evidence) return Fail(app, evidence.error());
  const report::SiteOptions sites{.order = *order,
                                  .limit = static_cast<std::size_t>(std::max(0, options.limit)),
                                  .lines = static_cast<std::size_t>(options.lines)};
  Print(app, report::RenderSiteCosts(evidence->View(), sites, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

}  // namespace breakwatch::commands
