#include "breakwatch/report/site_costs.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "breakwatch/core/fix.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/model_line.h"
#include "breakwatch/core/text.h"
#include "breakwatch/core/unblock.h"
#include "document.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

// A fix alone, over the models on which it was tried.
struct FixCount {
  std::int64_t removed = 0, tried = 0;
};

struct SiteCost {
  const BreakSite* site = nullptr;
  std::set<const ModelResult*> models;
  std::int64_t events = 0, downloads = 0, leverage = 0, most = -1;
  const ModelResult* example = nullptr;
  std::set<std::string> callers, not_with;
  std::map<std::string, FixCount> fixes;

  std::int64_t Weight(SiteOrder order) const {
    const std::pair<SiteOrder, std::int64_t> weights[] = {
        {SiteOrder::kDownloads, downloads}, {SiteOrder::kEvents, events}, {SiteOrder::kLeverage, leverage}};
    for (const auto& [known, weight] : weights) {
      if (known == order) return weight;
    }
    return static_cast<std::int64_t>(models.size());
  }
};

constexpr std::size_t kPlaceColumn = 8;  // of SiteCostTable: place, function, source_line

constexpr std::size_t kMaxCallers = 64;

std::string FirstOf(const std::set<std::string>& lines) {
  std::set<std::string> first;
  for (const std::string& line : lines) {
    if (first.size() == kMaxCallers) break;
    first.insert(line);
  }
  return Joined(first);
}

using Costs = std::map<std::string, SiteCost>;  // by site id

std::int64_t DownloadsOf(const ModelResult& result) {
  return std::max<std::int64_t>(0, result.info.downloads.value_or(0));
}

bool Breaks(const ModelResult& result) { return HasNumbers(result.capture.status) && !result.capture.sites.empty(); }

std::set<std::string> SiteIds(const ModelResult& result) {
  std::set<std::string> ids;
  for (const BreakSite& site : result.capture.sites) ids.insert(site.site_id);
  return ids;
}

void Count(const ModelResult& result, Costs& costs) {
  const std::set<std::string> ids = SiteIds(result);
  for (const BreakSite& site : result.capture.sites) {
    SiteCost& cost = costs[site.site_id];
    cost.events += site.occurrences;
    if (std::string line = ModelLine(site); !line.empty()) cost.callers.insert(std::move(line));
    if (site.occurrences > cost.most) cost.most = site.occurrences, cost.site = &site, cost.example = &result;
    if (!cost.models.insert(&result).second) continue;
    cost.downloads += DownloadsOf(result);
    cost.leverage += ids.size() == 1 ? 1 : 0;
  }
}

// By model and commit, as other code may have other sites.
using ModelKey = std::pair<std::string, std::string>;
ModelKey KeyOf(const ModelResult& result) { return {result.info.id, result.info.sha}; }

// A toolchain by which none of the site's models has it, and at least one of them has numbers.
void CompareToolchains(std::span<const ModelResult> others, Costs& costs) {
  std::map<ModelKey, std::vector<const ModelResult*>> by_model;
  for (const ModelResult& other : others) {
    if (HasNumbers(other.capture.status)) by_model[KeyOf(other)].push_back(&other);
  }
  for (auto& [id, cost] : costs) {
    std::map<std::string, bool> has;
    for (const ModelResult* model : cost.models) {
      const auto found = by_model.find(KeyOf(*model));
      if (found == by_model.end()) continue;
      for (const ModelResult* other : found->second) has[other->capture.toolchain.name] |= SiteIds(*other).contains(id);
    }
    for (const auto& [toolchain, there] : has) {
      if (!there) cost.not_with.insert(toolchain);
    }
  }
}

void CountFixes(std::span<const ModelResult> tried_results, Costs& costs) {
  std::map<ModelKey, TriedFixes> by_model;
  for (const ModelResult& result : tried_results) {
    if (result.capture.mode != kFixMode) continue;
    if (auto tried = ReadTriedFixes(result.capture.mode_detail_json))
      by_model.emplace(KeyOf(result), *std::move(tried));
  }
  for (auto& [id, cost] : costs) {
    for (const ModelResult* model : cost.models) {
      const auto tried = by_model.find(KeyOf(*model));
      if (tried == by_model.end()) continue;
      for (const FixAttempt& attempt : tried->second.attempts) {
        if (attempt.names.size() != 1 || attempt.outcome.empty() || attempt.outcome == "different_result") continue;
        FixCount& count = cost.fixes[attempt.names.front()];
        ++count.tried;
        count.removed += std::count(attempt.removed.begin(), attempt.removed.end(), id) > 0 ? 1 : 0;
      }
    }
  }
}

Costs CostsOf(const SiteEvidence& evidence) {
  Costs costs;
  for (const ModelResult& result : evidence.results) {
    if (Breaks(result)) Count(result, costs);
  }
  CompareToolchains(evidence.other_toolchains, costs);
  CountFixes(evidence.tried, costs);
  return costs;
}

// "capture_scalar_outputs (3 of 4)": the fix that removes the site from the most models; "none of 5" that were tried.
Cell FixText(const SiteCost& cost) {
  if (cost.fixes.empty()) return {};
  const auto best = std::max_element(cost.fixes.begin(), cost.fixes.end(),
                                     [](const auto& a, const auto& b) { return a.second.removed < b.second.removed; });
  if (best->second.removed == 0) return "none of " + std::to_string(cost.fixes.size());
  return best->first + " (" + std::to_string(best->second.removed) + " of " + std::to_string(best->second.tried) + ")";
}

std::vector<const ModelResult*> BrokenOf(const SiteEvidence& evidence) {
  std::vector<const ModelResult*> broken;
  for (const ModelResult& result : evidence.results) {
    if (Breaks(result)) broken.push_back(&result);
  }
  return broken;
}

// The models that a choice of sites makes whole.
std::vector<const ModelResult*> MadeWhole(const std::vector<const ModelResult*>& broken,
                                          const std::set<std::string>& changed) {
  std::vector<const ModelResult*> whole;
  std::copy_if(broken.begin(), broken.end(), std::back_inserter(whole), [&](const ModelResult* model) {
    const std::set<std::string> ids = SiteIds(*model);
    return std::includes(changed.begin(), changed.end(), ids.begin(), ids.end());
  });
  return whole;
}

// The lines of the largest choice, and what they bring.
std::string ChosenLines(const Table& sites, const Table& curve, std::size_t broken, Format format, Style style) {
  const auto& last = curve.rows.back();
  const std::string heading = "Change " + Counted(std::get<std::int64_t>(last[0]), "line") + " and " +
                              std::to_string(std::get<std::int64_t>(last[1])) + " of " +
                              Counted(static_cast<std::int64_t>(broken), "model") + " become whole";
  const std::string chosen = ", " + std::get<std::string>(last.back()) + ",";
  Table lines{.title = {},
              .columns = {{"site_id", "SITE"},
                          {.name = "place", .title = "AT", .widest = 72, .keep_end = true},
                          {"function", "IN"},
                          {"source_line", "CODE", false, 72}},
              .rows = {}};
  for (const auto& row : sites.rows) {
    if (chosen.find(", " + std::get<std::string>(row[0]) + ",") == std::string::npos) continue;
    lines.rows.push_back({row[0], row[kPlaceColumn], row[kPlaceColumn + 1], row[kPlaceColumn + 2]});
  }
  const std::string title = format == Format::kMarkdown ? "\n## " + heading + "\n\n" : "\n" + heading + "\n\n";
  return title + Render(lines, format, style);
}

}  // namespace

std::optional<SiteOrder> ParseSiteOrder(std::string_view name) {
  constexpr std::pair<std::string_view, SiteOrder> kNames[] = {{"models", SiteOrder::kModels},
                                                               {"downloads", SiteOrder::kDownloads},
                                                               {"events", SiteOrder::kEvents},
                                                               {"leverage", SiteOrder::kLeverage}};
  for (const auto& [known, order] : kNames) {
    if (known == name) return order;
  }
  return std::nullopt;
}

Table SiteCostTable(const SiteEvidence& evidence, const SiteOptions& options) {
  const Costs costs = CostsOf(evidence);
  std::vector<const SiteCost*> rows;
  for (const auto& [id, cost] : costs) rows.push_back(&cost);
  std::stable_sort(rows.begin(), rows.end(), [&](const SiteCost* a, const SiteCost* b) {
    return std::pair(a->Weight(options.order), a->events) > std::pair(b->Weight(options.order), b->events);
  });
  if (options.limit != 0 && rows.size() > options.limit) rows.resize(options.limit);
  Table table{.title = {},
              .columns = {{"site_id", "SITE"},
                          {"reason", "REASON", false, 40},
                          {"gb_id", "ID"},
                          {"models", "MODELS", true},
                          {"downloads", "DOWNLOADS", true},
                          {"leverage", "UNBLOCKED", true},
                          {"events", "BREAKS", true},
                          {"owner", "CODE OF"},
                          {.name = "place", .title = "AT", .widest = 64, .keep_end = true},
                          {"function", ""},
                          {"source_line", ""},
                          {.name = "model_line", .title = "CALLED FROM", .widest = 64, .keep_end = true},
                          {"callers", "", true},
                          {"caller_lines", ""},
                          {"fix", "FIX", false, 48},
                          {"not_with", "NOT WITH", false, 32},
                          {"example_model", "EXAMPLE", false, 40}},
              .rows = {},
              .when_empty = "no graph breaks"};
  const auto text = [](const std::string& value) { return value.empty() ? Cell() : Cell(value); };
  for (const SiteCost* cost : rows) {
    const BreakSite& site = *cost->site;
    table.rows.push_back({site.site_id, site.reason, text(site.gb_id), static_cast<std::int64_t>(cost->models.size()),
                          cost->downloads, cost->leverage, cost->events, site.frame, PlaceOf(site), site.function,
                          site.source_line, text(ModelLine(site)), static_cast<std::int64_t>(cost->callers.size()),
                          text(FirstOf(cost->callers)), FixText(*cost), text(Joined(cost->not_with)),
                          cost->example->info.id});
  }
  return table;
}

Table UnblockTable(const SiteEvidence& evidence, const SiteOptions& options) {
  const std::vector<const ModelResult*> broken = BrokenOf(evidence);
  std::map<std::string, int> index;
  std::vector<std::string> ids;
  std::vector<BlockedModel> blocked;
  for (const ModelResult* model : broken) {
    BlockedModel& row = blocked.emplace_back();
    for (const std::string& id : SiteIds(*model)) {
      const auto [known, is_new] = index.emplace(id, static_cast<int>(ids.size()));
      if (is_new) ids.push_back(id);
      row.sites.push_back(known->second);
    }
    if (options.order == SiteOrder::kDownloads) row.weight = std::max<std::int64_t>(1, DownloadsOf(*model));
  }
  Table table{.title = {},
              .columns = {{"lines", "LINES", true},
                          {"models", "MODELS WHOLE", true},
                          {.name = "share", .title = "OF ALL", .right = true, .decimals = 3},
                          {"downloads", "DOWNLOADS", true},
                          {"exact", "EXACT"},
                          {"site_ids", ""}},
              .rows = {},
              .when_empty = "no graph breaks"};
  std::int64_t weight = 0;
  for (const UnblockStep& step : Unblock(blocked, options.lines)) {
    if (step.weight <= weight) continue;
    weight = step.weight;
    std::set<std::string> changed;
    for (const int site : step.sites) changed.insert(ids[static_cast<std::size_t>(site)]);
    const auto whole = MadeWhole(broken, changed);
    std::int64_t downloads = 0;
    for (const ModelResult* model : whole) downloads += DownloadsOf(*model);
    table.rows.push_back({static_cast<std::int64_t>(changed.size()), static_cast<std::int64_t>(whole.size()),
                          static_cast<double>(whole.size()) / static_cast<double>(broken.size()), downloads, step.exact,
                          Joined(changed)});
  }
  return table;
}

std::string RenderSiteCosts(const SiteEvidence& evidence, const SiteOptions& options, Format format, Style style) {
  Table sites = SiteCostTable(evidence, {.order = options.order, .limit = 0, .lines = options.lines});
  const Table all = sites;
  if (options.limit != 0 && sites.rows.size() > options.limit) sites.rows.resize(options.limit);
  if (format == Format::kCsv) return Render(sites, format, style);
  const Table curve = UnblockTable(evidence, options);
  const std::size_t broken = BrokenOf(evidence).size();
  if (format == Format::kJson) {
    return Dump(Json{{"schema", 1},
                     {"sweep_id", evidence.sweep_id},
                     {"broken_models", broken},
                     {"sites", RowsAsJson(sites)},
                     {"unblock", RowsAsJson(curve)}});
  }
  if (curve.rows.empty()) return Render(sites, format, style);
  return Render(sites, format, style) + ChosenLines(all, curve, broken, format, style) + "\n" +
         Render(curve, format, style);
}

}  // namespace breakwatch::report
