// What the store knows of the break sites of one sweep: its results, and what other toolchains and fixes found.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/report/site_costs.h"
#include "commands.h"

namespace breakwatch::commands {

struct StoredEvidence {
  Sweep sweep;
  std::vector<ModelResult> results, other_toolchains, tried;

  // Valid while this object is.
  report::SiteEvidence View() const;
};

// The results of `mode` (empty: the main mode). Error: kUsage for an unknown mode, or that of the store.
Result<StoredEvidence> LoadEvidence(App& app, store::SweepStore& store, const std::string& sweep,
                                    const std::string& mode, const ModelSelection& selection);

}  // namespace breakwatch::commands
