#include "gate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "breakwatch/compare/baseline.h"
#include "breakwatch/config/allow_list.h"
#include "breakwatch/core/text.h"
#include "commands.h"
#include "remote_history.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kMaxBaselineBytes = 256u << 20;

bool Exists(const std::string& path) {
  std::error_code unknown;
  return std::filesystem::exists(path, unknown);
}

std::vector<ModelResult> ReadableBaseline(std::optional<std::vector<ModelResult>> baseline) {
  return baseline ? *std::move(baseline) : std::vector<ModelResult>();
}

}  // namespace

std::string AllowListBeside(const std::string& baseline) {
  return std::filesystem::path(baseline).replace_extension(".allow.yaml").string();
}

std::vector<std::string> IgnorableNames() {
  std::vector<std::string> names = {"new-sites", "gone", "latency"};
  for (const compare::Quantity& quantity : compare::Quantities()) names.emplace_back(quantity.name);
  return names;
}

Result<compare::GateRules> RulesOf(const App& app, const GateOptions& options) {
  compare::GateRules rules;
  rules.today = std::chrono::floor<std::chrono::days>(app.clock->Now());
  for (const std::string& name : options.ignore) {
    if (name == "new-sites")
      rules.ignored.new_sites = true;
    else if (name == "gone")
      rules.ignore_gone = true;
    else if (name == "latency")
      rules.ignored.latency = true;
    else
      rules.ignored.quantities.insert(name);
  }
  rules.ignored.latency_tolerance = options.latency_tolerance / 100;
  std::string path = options.allow;
  if (path.empty() && !options.baseline.empty() && Exists(AllowListBeside(options.baseline))) {
    path = AllowListBeside(options.baseline);
  }
  if (path.empty()) return rules;
  auto allowed = config::ReadAllowList(path);
  if (!allowed) return allowed.error();
  rules.allowed = *std::move(allowed);
  return rules;
}

Result<std::optional<std::vector<ModelResult>>> ReadBaseline(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    if (errno == ENOENT) return std::optional<std::vector<ModelResult>>();
    return Error{ErrorCode::kStore, "cannot read " + path + ": " + std::strerror(errno)};
  }
  std::string text;
  for (char block[1 << 16]; file.read(block, sizeof block) || file.gcount() > 0;) {
    text.append(block, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxBaselineBytes) return Error{ErrorCode::kConfig, path + ": larger than 256 MiB"};
  }
  if (file.bad()) return Error{ErrorCode::kStore, "cannot read " + path + ": " + std::strerror(errno)};
  auto parsed = compare::ParseBaseline(path, text);
  if (!parsed) return parsed.error();
  return std::optional(*std::move(parsed));
}

std::vector<ModelResult> LinesFor(std::vector<ModelResult> baseline, std::span<const ModelResult> results,
                                  bool ranked) {
  std::set<std::string> modes, models;
  for (const ModelResult& result : results) modes.insert(result.capture.mode), models.insert(result.info.id);
  std::erase_if(baseline, [&](const ModelResult& line) {
    return (!results.empty() && !modes.contains(line.capture.mode)) || (!ranked && !models.contains(line.info.id));
  });
  return baseline;
}

Result<void> CheckGate(const App& app, const GateOptions& options) {
  if (options.baseline.empty()) {
    if (options.allow.empty() && options.ignore.empty() && options.latency_tolerance == 0) return {};
    return Error{ErrorCode::kUsage, "--allow, --ignore and --latency-tolerance need --gate FILE"};
  }
  if (auto rules = RulesOf(app, options); !rules) return rules.error();
  if (auto baseline = ReadBaseline(options.baseline); !baseline) return baseline.error();
  return {};
}

void WarnOfOtherModes(const App& app, const std::string& path, std::span<const ModelResult> baseline,
                      std::span<const ModelResult> results) {
  std::set<std::string> others;
  for (const ModelResult& line : baseline) others.insert(line.capture.mode);
  for (const ModelResult& result : results) others.erase(result.capture.mode);
  std::string text;
  for (const std::string& mode : others) text += (text.empty() ? "" : ", ") + mode;
  if (results.empty() || text.empty()) return;
  app.log(Level::kWarn, path + " also has lines of other modes, which are not compared: " + text);
}

void SuggestUpdate(const App& app, const std::string& path, const std::string& sweep_id,
                   const compare::GateDecision& gate) {
  if (gate.failed || gate.improved.empty()) return;
  app.log(Level::kInfo, "some results are better than the baseline: `breakwatch baseline update " + ShellQuoted(path) +
                            " --sweep " + sweep_id + "` records them");
}

Result<std::vector<ModelResult>> ComparedResults(store::SweepStore& store, const std::string& sweep_id) {
  std::vector<ModelResult> results;
  auto read = store.EachResult(sweep_id, [&](ModelResult result) -> Result<void> {
    compare::KeepCompared(result);
    results.push_back(std::move(result));
    return {};
  });
  if (!read) return read.error();
  return results;
}

Result<compare::GateDecision> GateSweep(App& app, const Sweep& sweep, const GateOptions& options) {
  const auto rules = RulesOf(app, options);
  if (!rules) return rules.error();
  auto baseline = ReadBaseline(options.baseline);
  if (!baseline) return baseline.error();
  auto store = OpenHistory(app);
  if (!store) return store.error();
  const auto results = ComparedResults(**store, sweep.id);
  if (!results) return results.error();
  if (!*baseline) {
    app.log(Level::kWarn, "no baseline " + options.baseline + ": `breakwatch baseline update " +
                              ShellQuoted(options.baseline) + " --sweep " + sweep.id + "` writes it from this sweep");
  }
  auto all = ReadableBaseline(*std::move(baseline));
  WarnOfOtherModes(app, options.baseline, all, *results);
  const auto lines = LinesFor(std::move(all), *results, sweep.ranked);
  return compare::CompareWithGate({options.baseline, lines}, {"sweep " + sweep.id, *results}, *rules).gate;
}

}  // namespace breakwatch::commands
