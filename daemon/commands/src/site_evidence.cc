#include "site_evidence.h"

#include <algorithm>

#include "breakwatch/core/mode.h"
#include "fix_trials.h"

namespace breakwatch::commands {
report::SiteEvidence StoredEvidence::View() const {
  return {.results = results, .other_toolchains = other_toolchains, .tried = tried, .sweep_id = sweep.id};
}

Result<StoredEvidence> LoadEvidence(App& app, store::SweepStore& store, const std::string& sweep,
                                    const std::string& mode_name, const ModelSelection& selection) {
  const std::string mode = mode_name.empty() ? std::string(kMainMode) : mode_name;
  if (!IsMode(mode)) return Error{ErrorCode::kUsage, "unknown mode \"" + mode + "\""};
  auto found = store.FindSweep(sweep);
  if (!found) return found.error();
  StoredEvidence evidence{.sweep = *std::move(found), .results = {}, .other_toolchains = {}, .tried = {}};
  const std::string& toolchain = evidence.sweep.toolchain.name;
  auto results = store.Results(evidence.sweep.id);
  if (!results) return results.error();
  evidence.results = *std::move(results);
  if (auto kept = KeepSelected(app, selection, evidence.results); !kept) return kept.error();
  std::erase_if(evidence.results, [&](const ModelResult& result) { return result.capture.mode != mode; });
  auto others = store.NewestResults({.model = {}, .mode = mode, .toolchain = {}, .revision = {}});
  if (!others) return others.error();
  evidence.other_toolchains = *std::move(others);
  std::erase_if(evidence.other_toolchains,
                [&](const ModelResult& other) { return other.capture.toolchain.name == toolchain; });
  auto tried = NewestTrials(store, toolchain);
  if (!tried) return tried.error();
  evidence.tried = *std::move(tried);
  return evidence;
}

}  // namespace breakwatch::commands
