// Commands that are a sweep of named models in a mode of their own, and print what its results say: profile, bench,
// fix.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/command.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/table.h"
#include "commands.h"

namespace breakwatch::commands {

using RenderResults = std::function<std::string(const std::vector<ModelResult>& results, report::Format format)>;

// `complete` adds what the mode needs to the request. Returns the exit code; errors are printed.
int RunInMode(App& app, std::string_view mode, const ModeCommandOptions& options,
              const std::function<void(SweepRequest& request)>& complete, const RenderResults& render);

}  // namespace breakwatch::commands
