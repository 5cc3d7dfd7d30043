#include "fix_trials.h"

#include <map>
#include <set>
#include <utility>

#include "breakwatch/core/fix.h"
#include "breakwatch/core/mode.h"

namespace breakwatch::commands {
namespace {

constexpr int kMaxSweeps = 1000;  // the newest, which are searched

bool TriedChosenOnly(const ModelResult& result) {
  const auto tried = ReadTriedFixes(result.capture.mode_detail_json);
  return tried && !tried->chosen.empty();
}

}  // namespace

Result<std::vector<ModelResult>> NewestTrials(store::SweepStore& store, const std::string& toolchain,
                                              const std::string& model) {
  auto newest =
      store.NewestResults({.model = model, .mode = std::string(kFixMode), .toolchain = toolchain, .revision = {}});
  if (!newest) return newest;
  std::map<std::string, ModelResult*> chosen;
  for (ModelResult& result : *newest) {
    if (TriedChosenOnly(result)) chosen.emplace(result.info.id, &result);
  }
  if (chosen.empty()) return newest;
  const auto sweeps = store.Sweeps(kMaxSweeps);  // the newest first
  if (!sweeps) return sweeps.error();
  for (const Sweep& sweep : *sweeps) {
    if (!sweep.modes.contains(std::string(kFixMode)) || sweep.toolchain.name != toolchain) continue;
    const auto read = store.EachResult(sweep.id, [&](ModelResult result) -> Result<void> {
      const auto found = chosen.find(result.info.id);
      const bool is_fuller = found != chosen.end() && result.capture.mode == kFixMode &&
                             result.info.sha == found->second->info.sha && HasNumbers(result.capture.status) &&
                             !TriedChosenOnly(result);
      if (!is_fuller) return {};
      *found->second = std::move(result);
      chosen.erase(found);
      return {};
    });
    if (!read) return read.error();
    if (chosen.empty()) break;
  }
  return newest;
}

Result<void> AddTrials(store::SweepStore& store, const std::string& model, std::vector<ModelResult>& results) {
  std::set<std::string> toolchains, captures;
  for (const ModelResult& result : results) {
    captures.insert(result.capture_id);
    if (result.capture.mode == kFixMode) toolchains.insert(result.capture.toolchain.name);
  }
  for (const std::string& toolchain : toolchains) {
    auto trials = NewestTrials(store, toolchain, model);
    if (!trials) return trials.error();
    for (ModelResult& trial : *trials) {
      if (!captures.contains(trial.capture_id)) results.push_back(std::move(trial));
    }
  }
  return {};
}

}  // namespace breakwatch::commands
