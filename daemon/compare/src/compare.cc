#include "breakwatch/compare/compare.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <tuple>

namespace breakwatch::compare {
namespace {

using SiteMap = std::map<std::string, std::pair<const BreakSite*, std::int64_t>>;

SiteMap SitesOf(const CaptureResult& capture) {
  SiteMap sites;
  for (const BreakSite& site : capture.sites) {
    auto& entry = sites[site.site_id];
    entry.first = &site, entry.second += site.occurrences;
  }
  return sites;
}

std::int64_t EventsOf(const CaptureResult& capture) {
  if (capture.breaks) return *capture.breaks;
  std::int64_t events = 0;
  for (const BreakSite& site : capture.sites) events += site.occurrences;
  return events;
}

std::int64_t CountSites(const CaptureResult& capture) {
  return capture.break_sites.value_or(static_cast<std::int64_t>(capture.sites.size()));
}

void CompareSites(const CaptureResult& a, const CaptureResult& b, ModelComparison& out) {
  const SiteMap before = SitesOf(a), after = SitesOf(b);
  for (const auto& [id, entry] : after) {
    const auto found = before.find(id);
    if (found == before.end()) {
      out.new_sites.push_back({*entry.first, 0, entry.second});
    } else if (found->second.second != entry.second) {
      out.changed_sites.push_back({*entry.first, found->second.second, entry.second});
    }
  }
  for (const auto& [id, entry] : before) {
    if (!after.contains(id)) out.gone_sites.push_back({*entry.first, entry.second, 0});
  }
}

// At different depths a site repeats once per layer, so only the sites are compared.
Verdict VerdictOf(const ModelComparison& m) {
  const bool unlike_depth =
      std::any_of(m.differences.begin(), m.differences.end(), [](const Difference& d) { return d.what == "depth"; });
  const std::int64_t events = unlike_depth ? 0 : *m.breaks_b - *m.breaks_a, sites = *m.sites_b - *m.sites_a;
  const std::int64_t change = events != 0 ? events : sites;
  return change > 0 ? Verdict::kWorse : change < 0 ? Verdict::kBetter : Verdict::kSame;
}

// True if a capture was attempted and has no numbers because of the model or its toolchain.
bool Failed(Status status) {
  return !HasNumbers(status) && !IsSkipped(status) && !IsIncomplete(status) && status != Status::kFailedResolve;
}

void SetNumbers(const ModelResult& result, std::optional<Status>& status, std::optional<std::int64_t>& breaks,
                std::optional<std::int64_t>& sites) {
  status = result.capture.status;
  if (!HasNumbers(result.capture.status)) return;
  breaks = EventsOf(result.capture), sites = CountSites(result.capture);
}

ModelComparison OneSided(const ModelResult& result, bool is_new) {
  ModelComparison out;
  out.model = result.info.id;
  out.verdict = is_new ? Verdict::kNew : Verdict::kGone;
  is_new ? SetNumbers(result, out.b, out.breaks_b, out.sites_b) : SetNumbers(result, out.a, out.breaks_a, out.sites_a);
  return out;
}

void Add(const ModelResult& result, Totals& totals) {
  const CaptureResult& c = result.capture;
  ++totals.models;
  if (!HasNumbers(c.status)) {
    ++totals.without_numbers;
    return;
  }
  ++(c.status == Status::kFullGraph ? totals.clean : totals.broken);
  totals.events += EventsOf(c), totals.sites += CountSites(c);
}

using ReasonMap = std::map<std::pair<std::string, std::string>, ReasonChange>;

template <class Pick>
void AddReasons(const ModelResult& result, ReasonMap& reasons, const Pick& pick) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const BreakSite& site : result.capture.sites) {
    ReasonChange& row = reasons[{site.reason, site.gb_id}];
    row.reason = site.reason, row.gb_id = site.gb_id;
    auto [events, sites, models] = pick(row);
    events += site.occurrences, ++sites;
    if (seen.emplace(site.reason, site.gb_id).second) ++models;
  }
}

void AddReasons(const ModelResult& a, const ModelResult& b, ReasonMap& reasons) {
  AddReasons(a, reasons, [](ReasonChange& r) { return std::tie(r.events_a, r.sites_a, r.models_a); });
  AddReasons(b, reasons, [](ReasonChange& r) { return std::tie(r.events_b, r.sites_b, r.models_b); });
}

using ByModel = std::map<std::string, const ModelResult*>;

ByModel Index(const Side& side) {
  ByModel models;
  for (const ModelResult& result : side.results) models[result.info.id] = &result;
  return models;
}

void Order(Comparison& out, const ReasonMap& reasons, const std::map<Difference, std::int64_t>& differences) {
  std::stable_sort(out.models.begin(), out.models.end(),
                   [](const ModelComparison& x, const ModelComparison& y) { return x.verdict < y.verdict; });
  for (const auto& [id, row] : reasons) out.reasons.push_back(row);
  const auto change = [](const ReasonChange& r) {
    return std::tuple(std::llabs(r.events_b - r.events_a), std::llabs(r.sites_b - r.sites_a), r.events_b);
  };
  std::stable_sort(out.reasons.begin(), out.reasons.end(),
                   [&](const ReasonChange& x, const ReasonChange& y) { return change(x) > change(y); });
  out.differences.assign(differences.begin(), differences.end());
  std::stable_sort(out.differences.begin(), out.differences.end(),
                   [](const auto& x, const auto& y) { return x.second > y.second; });
}

}  // namespace

std::string_view VerdictName(Verdict verdict) {
  static constexpr std::string_view kNames[] = {"worse", "better", "not_comparable", "new", "gone", "same"};
  return kNames[static_cast<std::size_t>(verdict)];
}

ModelComparison CompareModel(const ModelResult& a, const ModelResult& b) {
  ModelComparison out;
  out.model = b.info.id;
  SetNumbers(a, out.a, out.breaks_a, out.sites_a), SetNumbers(b, out.b, out.breaks_b, out.sites_b);
  out.differences = DifferencesOf(a, b);
  out.why = NotComparable(a, b);
  const Status before = a.capture.status, after = b.capture.status;
  if (!HasNumbers(before) && before == after) {
    out.verdict = Verdict::kSame;  // no numbers before and after, with the same status
  } else if (HasNumbers(before) && Failed(after)) {
    out.verdict = Verdict::kWorse;
  } else if (Failed(before) && HasNumbers(after)) {
    out.verdict = Verdict::kBetter;
  } else if (!out.why.empty()) {
    out.verdict = Verdict::kNotComparable;
  } else {
    CompareSites(a.capture, b.capture, out);
    out.verdict = VerdictOf(out);
  }
  return out;
}

Comparison Compare(const Side& a, const Side& b) {
  Comparison out;
  out.a = a.label, out.b = b.label;
  const ByModel before = Index(a), after = Index(b);
  ReasonMap reasons;
  std::map<Difference, std::int64_t> differences;
  for (const auto& [model, result] : before) {
    Add(*result, out.all_a);
    const auto found = after.find(model);
    if (found == after.end()) {
      out.models.push_back(OneSided(*result, /*is_new=*/false));
      continue;
    }
    out.models.push_back(CompareModel(*result, *found->second));
    for (const Difference& difference : out.models.back().differences) ++differences[difference];
    if (!out.models.back().why.empty() || !HasNumbers(result->capture.status)) continue;
    Add(*result, out.compared_a), Add(*found->second, out.compared_b);
    AddReasons(*result, *found->second, reasons);
  }
  for (const auto& [model, result] : after) {
    Add(*result, out.all_b);
    if (!before.contains(model)) out.models.push_back(OneSided(*result, /*is_new=*/true));
  }
  std::stable_sort(out.models.begin(), out.models.end(),
                   [](const ModelComparison& x, const ModelComparison& y) { return x.model < y.model; });
  for (const ModelComparison& model : out.models) ++out.verdicts[model.verdict];
  Order(out, reasons, differences);
  return out;
}

}  // namespace breakwatch::compare
