// `breakwatch fix`: tries the known fixes on models that break, and prints which of them help.
#include "breakwatch/core/mode.h"
#include "breakwatch/report/fixes.h"
#include "run_in_mode.h"

namespace breakwatch::commands {
namespace {

FixOptions FixOptionsOf(const App& app, const FixCommandOptions& options) {
  FixOptions fix = config::FixOptionsOf(app.settings().capture);
  fix.names = options.names;
  fix.combine = !options.alone;
  return fix;
}

}  // namespace

int RunFix(App& app, const FixCommandOptions& options) {
  if (auto checked = CheckFixNames(options.names, "--fix"); !checked) return Fail(app, checked.error());
  const FixOptions fix = FixOptionsOf(app, options);
  if (auto checked = CheckFix(fix); !checked) return Fail(app, checked.error());
  const auto complete = [&](SweepRequest& request) { request.fix = fix; };
  return RunInMode(app, kFixMode, options.in_mode, complete,
                   [&](const std::vector<ModelResult>& results, report::Format format) {
                     const bool to_file = !options.in_mode.output.empty();
                     return report::RenderFixes(results, format, to_file ? report::Style() : StyleOf(app));
                   });
}

}  // namespace breakwatch::commands
