#include "sweep_totals.h"

#include <algorithm>

#include "breakwatch/core/fixability.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/reason_url.h"
#include "breakwatch/core/text.h"
#include "document.h"
#include "segments.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxErrorBytes = 2000;

Cell Text(std::string_view text) { return std::string(text); }
Cell MaybeText(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

std::string ModeOf(const ModelResult& result) {
  return result.capture.mode.empty() ? std::string(kMainMode) : result.capture.mode;
}

}  // namespace

void SweepTotals::ReasonRow::Add(const ModelResult& result, std::uint32_t model, const BreakSite& site) {
  events += site.occurrences;
  ++sites;
  if (category.empty()) category = site.fixability;
  models[model].downloads = std::max<std::int64_t>(0, result.info.downloads.value_or(0));
  families.insert(std::string(FamilyName(result.info.family)));
  if (site.occurrences > most) most = site.occurrences, example_model = result.info.id, example_site = PlaceOf(site);
}

std::int64_t SweepTotals::ReasonRow::Weight(ReasonOrder order) const {
  switch (order) {
    case ReasonOrder::kEvents:
      return events;
    case ReasonOrder::kSites:
      return sites;
    case ReasonOrder::kModels:
      return static_cast<std::int64_t>(models.size());
    case ReasonOrder::kLeverage:
      return leverage;
  }
  return 0;
}

void SweepTotals::Add(const ModelResult& result) {
  const std::string mode = ModeOf(result);
  if (results_++ == 0) first_mode_ = mode;
  has_main_mode_ = has_main_mode_ || mode == kMainMode;
  has_other_modes_ = has_other_modes_ || mode != kMainMode;
  has_owners_ = has_owners_ || !result.owners.empty();
  has_ops_of_another_run_ = has_ops_of_another_run_ || HasOpsOfAnotherRun(result.capture);
  if (mode == kFixMode) AddTried(result);
  HasNumbers(result.capture.status) ? AddReasons(result) : AddFailure(result);
}

void SweepTotals::AddTried(const ModelResult& result) {
  auto effects = FixEffectsOf(result);
  if (!effects) return;
  FixEffects& kept = tried_[{result.info.id, result.info.sha}];
  if (Replaces(*effects, kept)) kept = *std::move(effects);
}

std::pair<std::string, std::int64_t> SweepTotals::Fixed::Best() const {
  std::pair<std::string, std::int64_t> best;
  for (const auto& [fix, removed] : removed_by) {
    if (removed > best.second) best = {fix, removed};
  }
  return best;
}

std::uint32_t SweepTotals::NumberOf(const ModelResult& result) {
  return numbers_.try_emplace({result.info.id, result.info.sha}, static_cast<std::uint32_t>(numbers_.size()))
      .first->second;
}

SweepTotals::Tried SweepTotals::TriedByNumber() const {
  Tried tried;
  for (const auto& [key, effects] : tried_) {
    if (const auto number = numbers_.find(key); number != numbers_.end()) tried[number->second] = &effects;
  }
  return tried;
}

SweepTotals::Fixed SweepTotals::FixedOf(const ReasonRow& row, const Tried& tried) {
  Fixed fixed;
  for (const auto& [number, model] : row.models) {
    if (model.is_only_reason) fixed.leverage_downloads += model.downloads;
    const auto found = tried.find(number);
    const ReasonFixes* fixes = found == tried.end() ? nullptr : found->second->OfReason(row.reason, row.gb_id);
    if (fixes == nullptr) {
      fixed.fixability.push_back(kUntested);
      continue;
    }
    ++fixed.tried;
    fixed.fixability.push_back(fixes->fixability);
    for (const std::string& fix : fixes->removed_by) ++fixed.removed_by[fix];
    if (!model.is_only_reason || !found->second->IsWhole()) continue;
    ++fixed.made_whole, fixed.made_whole_downloads += model.downloads;
  }
  return fixed;
}

void SweepTotals::AddReasons(const ModelResult& result) {
  std::map<ReasonId, ReasonRow>& reasons = reasons_[ModeOf(result)];
  if (result.capture.sites.empty()) return;
  const std::uint32_t model = NumberOf(result);
  std::set<ReasonId> of_model;
  for (const BreakSite& site : result.capture.sites) {
    const ReasonId id{site.reason, site.gb_id};
    of_model.insert(id);
    ReasonRow& row = reasons[id];
    row.reason = site.reason, row.gb_id = site.gb_id;
    row.Add(result, model, site);
  }
  if (of_model.size() != 1) return;
  ReasonRow& only = reasons[*of_model.begin()];
  ++only.leverage;
  only.models[model].is_only_reason = true;
}

void SweepTotals::AddFailure(const ModelResult& result) {
  ++without_numbers_;
  const CaptureResult& c = result.capture;
  Failure& failure = failures_[{c.status, c.detail, c.mode}];
  if (failure.models++ > 0) return;
  failure.phase = c.phase;
  failure.suggestion = c.suggestion;
  failure.example = result.info.id;
  failure.error = Truncate(ToUtf8(c.error), kMaxErrorBytes);
}

std::string SweepTotals::SpeakingMode() const {
  return has_main_mode_ || results_ == 0 ? std::string(kMainMode) : first_mode_;
}

Table SweepTotals::Reasons(ReasonOrder order, std::size_t limit) const {
  std::vector<const ReasonRow*> rows;
  if (const auto of_mode = reasons_.find(SpeakingMode()); of_mode != reasons_.end()) {
    for (const auto& [id, row] : of_mode->second) rows.push_back(&row);
  }
  // Ordered by (reason, gb_id) before: a stable sort keeps that order for equal weights.
  std::stable_sort(rows.begin(), rows.end(), [&](const ReasonRow* a, const ReasonRow* b) {
    return std::pair(a->Weight(order), a->events) > std::pair(b->Weight(order), b->events);
  });
  if (limit != 0 && rows.size() > limit) rows.resize(limit);
  const bool any_tried = !tried_.empty(), by_leverage = order == ReasonOrder::kLeverage;
  Table table{.title = {},
              .columns = {{"reason", "REASON", false, 56},
                          {"gb_id", "ID"},
                          {"fixability", any_tried ? "FIXABILITY" : ""},
                          {"events", "BREAKS", true},
                          {"sites", "SITES", true},
                          {"models", "MODELS", true},
                          {"leverage", "UNBLOCKED", true},
                          {"fix", any_tried ? "FIX" : "", false, 40},
                          {"fixed_models", any_tried ? "FIXED" : "", true},
                          {"tried_models", any_tried ? "TRIED" : "", true},
                          {"made_whole", any_tried && by_leverage ? "MADE WHOLE" : "", true},
                          {"leverage_downloads", by_leverage ? "DOWNLOADS" : "", true},
                          {"made_whole_downloads", any_tried && by_leverage ? "OF WHOLE" : "", true},
                          {"families", ""},
                          {"example_model", "EXAMPLE", false, 40},
                          {.name = "example_site", .title = "AT", .widest = 64, .keep_end = true},
                          {"category", ""},
                          {"url", ""}},
              .rows = {},
              .when_empty = results_ > without_numbers_ ? "no graph breaks" : "no model has numbers"};
  const Tried tried = TriedByNumber();
  for (const ReasonRow* row : rows) {
    const Fixed fixed = FixedOf(*row, tried);
    const auto [fix, removed] = fixed.Best();
    table.rows.push_back({row->reason, row->gb_id, Text(MostSeen(fixed.fixability)), row->events, row->sites,
                          static_cast<std::int64_t>(row->models.size()), row->leverage, MaybeText(fix), removed,
                          fixed.tried, fixed.made_whole, fixed.leverage_downloads, fixed.made_whole_downloads,
                          Joined(row->families), row->example_model, row->example_site, row->category,
                          MaybeText(ReasonUrl(row->gb_id))});
  }
  return table;
}

Table SweepTotals::Failures() const {
  std::vector<std::pair<const FailureId*, const Failure*>> rows;
  bool any_suggestion = false;
  for (const auto& [id, failure] : failures_) {
    rows.emplace_back(&id, &failure);
    any_suggestion = any_suggestion || !failure.suggestion.empty();
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second->models > b.second->models; });
  Table table{.title = {},
              .columns = {{"status", "STATUS"},
                          {"mode", ModeTitle()},
                          {"phase", ""},
                          {"status_detail", "DETAIL", false, 96},
                          {"suggestion", any_suggestion ? "SUGGESTION" : "", false, 96},
                          {"models", "MODELS", true},
                          {"example_model", "EXAMPLE", false, 48},
                          {"error", ""}},
              .rows = {},
              .when_empty = "every model has numbers"};
  for (const auto& [id, failure] : rows) {
    const auto& [status, detail, mode] = *id;
    table.rows.push_back({Text(StatusName(status)), mode, MaybeText(failure->phase), detail,
                          MaybeText(failure->suggestion), failure->models, failure->example,
                          MaybeText(failure->error)});
  }
  return table;
}

std::string SweepTotals::ReasonsTitle() const {
  return ModeTitle().empty() ? "Top reasons" : "Top reasons in mode " + SpeakingMode();
}

std::string SweepTotals::FailuresTitle() const {
  return ModeTitle().empty() ? "Models without numbers" : "Results without numbers";
}

std::string SweepTotals::OpsNote() const {
  return has_ops_of_another_run_ ? "OPS of models captured at full depth come from the reduced run; all other columns "
                                   "come from the full-depth run."
                                 : "";
}

void Gathered::Add(const ModelResult& result) {
  totals.Add(result);
  sites.Add(result);
  rows.Add(ResultRow(result));
}

SweepTotals TotalsOf(std::span<const ModelResult> results) {
  SweepTotals totals;
  for (const ModelResult& result : results) totals.Add(result);
  return totals;
}

Table ReasonTable(std::span<const ModelResult> results, ReasonOrder order, std::size_t limit,
                  std::span<const ModelResult> tried) {
  SweepTotals totals = TotalsOf(results);
  for (const ModelResult& result : tried) totals.AddTried(result);
  return totals.Reasons(order, limit);
}
Table FailureTable(std::span<const ModelResult> results) { return TotalsOf(results).Failures(); }

std::optional<ReasonOrder> ParseReasonOrder(std::string_view name) {
  constexpr std::pair<std::string_view, ReasonOrder> kNames[] = {{"events", ReasonOrder::kEvents},
                                                                 {"sites", ReasonOrder::kSites},
                                                                 {"models", ReasonOrder::kModels},
                                                                 {"leverage", ReasonOrder::kLeverage}};
  for (const auto& [known, order] : kNames) {
    if (known == name) return order;
  }
  return std::nullopt;
}

}  // namespace breakwatch::report
