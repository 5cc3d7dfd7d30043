#include "compare_sides.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "breakwatch/compare/compare.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"

namespace breakwatch::commands {
namespace {

constexpr int kMaxSweepsSearched = 1000;
constexpr std::string_view kToolchainPrefix = "toolchain:";

Error Nothing(const std::string& selector) {
  return {ErrorCode::kNotFound, "\"" + selector + "\" matches no result", false, {}};
}

// The newest finished sweep before the latest one that is comparable: same source, same toolchain, and at least half of
// the models. So a sweep of one model by name, or by a further toolchain, is not compared with a scheduled sweep.
Result<Sweep> Previous(store::SweepStore& store) {
  const auto latest = store.FindSweep("latest");
  if (!latest) return latest.error();
  const auto wanted = store.PlannedModels(latest->id);
  if (!wanted) return wanted.error();
  const auto sweeps = store.Sweeps(kMaxSweepsSearched);
  if (!sweeps) return sweeps.error();
  // Newest first: sweeps older than the latest come after it.
  const auto at = std::find_if(sweeps->begin(), sweeps->end(), [&](const Sweep& s) { return s.id == latest->id; });
  for (const Sweep& sweep : std::span(at, sweeps->end()).subspan(at == sweeps->end() ? 0 : 1)) {
    if (sweep.state != SweepState::kFinished || sweep.source != latest->source ||
        sweep.toolchain.name != latest->toolchain.name) {
      continue;
    }
    const auto models = store.PlannedModels(sweep.id);
    if (!models) return models.error();
    const auto shared =
        std::count_if(wanted->begin(), wanted->end(), [&](const auto& m) { return models->contains(m); });
    if (2 * static_cast<std::size_t>(shared) >= wanted->size()) return sweep;
  }
  return Error{ErrorCode::kNotFound, "no finished sweep before the latest one, " + latest->id +
                                         ", has the same source and toolchain and at least half of its models: name "
                                         "one (`breakwatch report --list` lists them)"};
}

// The newest finished sweep in a measure mode, or the one before it by the same toolchain.
Result<Sweep> OfMeasurements(store::SweepStore& store, const std::string& mode, bool previous) {
  const auto sweeps = store.Sweeps(kMaxSweepsSearched);
  if (!sweeps) return sweeps.error();
  const Sweep* latest = nullptr;
  for (const Sweep& sweep : *sweeps) {
    if (sweep.state != SweepState::kFinished || !sweep.modes.contains(mode)) continue;
    if (latest == nullptr && !previous) return sweep;
    if (latest != nullptr && latest->toolchain.name == sweep.toolchain.name) return sweep;
    if (latest == nullptr) latest = &sweep;
  }
  return Error{ErrorCode::kNotFound, "no finished sweep in mode " + mode + (previous ? " before the latest one" : "")};
}

Result<Sweep> SweepOf(store::SweepStore& store, const std::string& selector, const std::string& mode) {
  const bool previous = selector == "previous";
  if (IsMeasureMode(mode) && (previous || selector == "latest")) return OfMeasurements(store, mode, previous);
  return previous ? Previous(store) : store.FindSweep(selector);
}

// Reads the sides of a comparison. Where both have one capture, as almost all do between two sweeps of the same models,
// it is read once. Thread: the command's or the request's.
class SideReader {
 public:
  SideReader(store::SweepStore& store, const Settings& settings, const std::string& mode, Detail detail)
      : store_(store), settings_(settings), mode_(mode), detail_(detail) {}

  // Results in all modes, or in the mode. `other`: the side that was read before; null: none.
  Result<Selected> Read(const std::string& selector, const Selected* other = nullptr);

 private:
  Result<Selected> OfSweep(const std::string& selector, const Selected* other);
  Result<Selected> OfToolchain(const std::string& name);
  Result<Selected> OfCommit(const std::string& name, const std::string& revision);
  bool IsWanted(const ModelResult& result) const { return mode_.empty() || result.capture.mode == mode_; }

  store::SweepStore& store_;
  const Settings& settings_;
  const std::string& mode_;
  const Detail detail_;
  std::map<std::string, std::size_t> stored_;  // by capture: the place of a result that has it unchanged, in `other`
};

Result<Selected> SideReader::OfSweep(const std::string& selector, const Selected* other) {
  auto sweep = SweepOf(store_, selector, mode_);
  if (!sweep) return sweep.error();
  Selected selected{"sweep " + sweep->id + ", " + sweep->source + ", " + sweep->toolchain.Key(), {}, sweep->ranked};
  const store::KnownCapture known = [&](const std::string& capture) -> const CaptureResult* {
    const auto found = stored_.find(capture);
    return other == nullptr || found == stored_.end() ? nullptr : &other->results[found->second].capture;
  };
  auto read = store_.EachCompared(sweep->id, known, [&](ModelResult result, bool is_stored) -> Result<void> {
    if (!IsWanted(result)) return {};
    if (detail_ == Detail::kCompared) compare::KeepCompared(result);
    if (other == nullptr && is_stored) stored_.emplace(result.capture_id, selected.results.size());
    selected.results.push_back(std::move(result));
    return {};
  });
  if (!read) return read.error();
  return selected;
}

Result<Selected> SideReader::OfToolchain(const std::string& name) {
  auto results = store_.NewestResults({.model = {}, .mode = {}, .toolchain = name, .revision = {}});
  if (!results) return results.error();
  std::string key = name;
  for (const ModelResult& result : *results) {
    if (!result.capture.toolchain.torch.empty()) key = result.capture.toolchain.Key();
  }
  return Selected{"newest results of toolchain " + key, std::move(*results)};
}

Result<Selected> SideReader::OfCommit(const std::string& name, const std::string& revision) {
  const auto model = FindModel(store_, name);
  if (!model) return model.error();
  if (revision.size() < 4) {
    return Error{ErrorCode::kUsage, "a commit needs at least four digits: " + name + "@" + revision};
  }
  auto results = store_.NewestResults({.model = *model, .mode = {}, .toolchain = {}, .revision = revision});
  if (!results) return results.error();
  // Keeps one result per model, preferably that of the primary toolchain.
  std::stable_partition(results->begin(), results->end(), [&](const ModelResult& result) {
    return result.capture.toolchain.name != settings_.capture.toolchain;
  });
  return Selected{*model + " at " + (results->empty() ? revision : results->back().info.sha), std::move(*results),
                  /*is_whole=*/false};
}

Result<Selected> SideReader::Read(const std::string& selector, const Selected* other) {
  const std::size_t at = selector.rfind('@');
  auto selected = selector.starts_with(kToolchainPrefix) ? OfToolchain(selector.substr(kToolchainPrefix.size()))
                  : at != std::string::npos              ? OfCommit(selector.substr(0, at), selector.substr(at + 1))
                                                         : OfSweep(selector, other);
  if (!selected) return selected;
  std::erase_if(selected->results, [&](const ModelResult& result) { return !IsWanted(result); });
  if (selected->results.empty()) return Nothing(selector + (mode_.empty() ? "" : " in mode " + mode_));
  return selected;
}

// A model that was skipped before its modes were planned has none.
std::set<std::string> ModesOf(const std::vector<ModelResult>& results) {
  std::set<std::string> modes;
  for (const ModelResult& result : results) modes.insert(result.capture.mode);
  modes.erase("");
  return modes;
}

// Removes the results of models that `named` does not have.
void KeepModelsOf(const std::vector<ModelResult>& named, std::vector<ModelResult>& results) {
  std::set<std::string> models;
  for (const ModelResult& result : named) models.insert(result.info.id);
  std::erase_if(results, [&](const ModelResult& result) { return !models.contains(result.info.id); });
}

// Keeps the modes that both sides have. Error: kUsage, there are none.
Result<void> KeepCommonModes(Sides& sides) {
  const std::set<std::string> a = ModesOf(sides.a.results), b = ModesOf(sides.b.results);
  std::set<std::string> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(common, common.end()));
  if (common.empty() && !a.empty() && !b.empty()) {
    return Error{ErrorCode::kUsage, "no mode in common: A has results in " + Joined(a) + ", B in " + Joined(b)};
  }
  for (std::vector<ModelResult>* results : {&sides.a.results, &sides.b.results}) {
    std::erase_if(*results, [&](const ModelResult& result) {
      const std::string& mode = result.capture.mode;
      const bool is_left_out = !mode.empty() && !common.empty() && !common.contains(mode);
      if (is_left_out) sides.other_modes.insert(mode);
      return is_left_out;
    });
  }
  return {};
}

// A line of a baseline has no facts of its model but the id. If --filter is given, lines of models without a new result
// get those of the newest stored one: a filter by family must not hide that a model is gone.
Result<void> KnowGoneModels(const App& app, store::SweepStore& store, std::vector<ModelResult>& lines,
                            std::span<const ModelResult> results) {
  std::set<std::string> models, unknown;
  for (const ModelResult& result : results) models.insert(result.info.id);
  for (ModelResult& line : lines) {
    if (models.contains(line.info.id)) continue;
    const auto newest = ResultsOf(store, app.settings(), line.info.id);
    if (!newest) return newest.error();
    newest->empty() ? (void)unknown.insert(line.info.id) : (void)(line.info = newest->front().info);
  }
  if (!unknown.empty()) {
    app.log(Level::kWarn, Counted(unknown.size(), "model") + " of the baseline, such as " + *unknown.begin() +
                              ", have no stored result: --filter knows only their ids");
  }
  return {};
}

Result<Sides> SidesOfBaseline(const App& app, store::SweepStore& store, const CompareOptions& options, Detail detail) {
  const std::string selector = options.a.empty() ? "latest" : options.a;
  auto baseline = ReadBaseline(options.gate.baseline);
  if (!baseline) return baseline.error();
  const auto sweep = store.FindSweep(selector);  // other selectors take models by name
  auto b = SideReader(store, app.settings(), options.mode, detail).Read(selector);
  if (!b) return b.error();
  const bool has_baseline = baseline->has_value();
  Selected a{"baseline " + options.gate.baseline, {}};
  if (*baseline && options.mode.empty()) WarnOfOtherModes(app, options.gate.baseline, **baseline, b->results);
  if (*baseline) a.results = LinesFor(**std::move(baseline), b->results, sweep && sweep->ranked);
  if (!options.selection.empty()) {
    if (auto known = KnowGoneModels(app, store, a.results, b->results); !known) return known.error();
  }
  return Sides{std::move(a), *std::move(b), has_baseline, sweep ? sweep->id : "", {}};
}

}  // namespace

Result<Sides> SidesOf(store::SweepStore& store, const Settings& settings, const std::string& a, const std::string& b,
                      const std::string& mode, Detail detail) {
  SideReader reader(store, settings, mode, detail);
  auto newer = reader.Read(b);
  if (!newer) return newer.error();
  auto older = reader.Read(a, &*newer);
  if (!older) {
    // The first build has no sweep before it. That is no failure.
    if (a != "previous" || older.error().code != ErrorCode::kNotFound) return older.error();
    return Sides{{older.error().message, {}}, *std::move(newer), false, {}, {}};
  }
  Sides sides{*std::move(older), *std::move(newer), true, {}, {}};
  if (!sides.b.is_whole) KeepModelsOf(sides.b.results, sides.a.results);
  if (auto kept = KeepCommonModes(sides); !kept) return kept.error();
  return sides;
}

Result<Sides> SidesOf(const App& app, store::SweepStore& store, const CompareOptions& options, Detail detail) {
  if (!options.gate.baseline.empty()) return SidesOfBaseline(app, store, options, detail);
  return SidesOf(store, app.settings(), options.a, options.b, options.mode, detail);
}

}  // namespace breakwatch::commands
