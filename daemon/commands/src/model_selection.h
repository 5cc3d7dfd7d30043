// --filter and --owner of the commands that print models.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/core/filter_subject.h"
#include "breakwatch/report/stream.h"

namespace breakwatch::commands {

struct ModelSelection {
  std::string filter;  // --filter: an expression
  std::string owner;   // --owner: short for owner:NAME

  bool empty() const { return filter.empty() && owner.empty(); }
};

// An expression of the command line, which may name files. Error: kUsage, naming `flag`.
Result<ModelFilter> ParseFilter(const std::string& flag, const std::string& text);

// Both flags: a model must match both. Error: kUsage.
Result<ModelFilter> FilterOf(const ModelSelection& selection);

// Both flags in a line for a report; empty without them.
std::string LineOf(const ModelSelection& selection);

// Removes the results that are not selected, and fills in the owners of the rest. Error: kUsage if nothing is selected.
Result<void> KeepSelected(const App& app, const ModelSelection& selection, std::vector<ModelResult>& results);
// The same for the two sides of a comparison: a model of which one result matches stays on both sides.
Result<void> KeepSelected(const App& app, const ModelSelection& selection, std::vector<ModelResult>& a,
                          std::vector<ModelResult>& b);
// The selected ones of `each`, one at a time. After the last one it has the error of KeepSelected. `app` outlives it.
report::EachResult EachSelected(const App& app, const ModelSelection& selection, report::EachResult each);

}  // namespace breakwatch::commands
