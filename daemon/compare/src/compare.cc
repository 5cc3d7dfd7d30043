#include "breakwatch/compare/compare.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <tuple>

#include "breakwatch/core/mode.h"

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

bool DifferIn(const ModelComparison& m, std::string_view what) {
  return std::any_of(m.differences.begin(), m.differences.end(), [&](const Difference& d) { return d.what == what; });
}

struct Rule {
  Quantity quantity;
  std::optional<std::int64_t> (*value)(const CaptureResult&);
  bool of_depth;   // repeats once per layer: not compared at different depths
  bool of_inputs;  // only compared for the same parameters and inputs
};

// As in PyTorch's own continuous integration: breaks and fallbacks should go down, captured operations up.
constexpr Rule kRules[] = {
    {{"breaks", true}, [](const CaptureResult& c) { return std::optional(EventsOf(c)); }, true, false},
    {{"break_sites", true}, [](const CaptureResult& c) { return std::optional(CountSites(c)); }, false, false},
    {{"frames_fallback", true}, [](const CaptureResult& c) { return c.frames_fallback; }, true, false},
    {{"recompiles", true}, [](const CaptureResult& c) { return c.recompiles; }, true, false},
    {{"ops_captured", false}, [](const CaptureResult& c) { return c.ops_captured; }, false, true},
};

bool SameInputs(const ModelComparison& m, const CaptureResult& a, const CaptureResult& b) {
  return a.params == b.params && !DifferIn(m, "inputs");
}

std::vector<QuantityChange> ChangesOf(const ModelComparison& m, const CaptureResult& a, const CaptureResult& b,
                                      const Ignored& ignored) {
  std::vector<QuantityChange> changes;
  for (const Rule& rule : kRules) {
    if (ignored.quantities.contains(rule.quantity.name) || (rule.of_depth && DifferIn(m, "depth")) ||
        (rule.of_inputs && !SameInputs(m, a, b))) {
      continue;
    }
    const auto before = rule.value(a), after = rule.value(b);
    if (!before || !after || *before == *after) continue;
    const bool worse = (*after > *before) == rule.quantity.lower_is_better;
    changes.push_back({std::string(rule.quantity.name), *before, *after, worse});
  }
  return changes;
}

std::string TextOf(const QuantityChange& change) {
  return change.name + " " + std::to_string(change.a) + " -> " + std::to_string(change.b);
}

// Times are compared only if they were measured in the same way. If they were not, sets `why`.
void CompareTimes(const CaptureResult& a, const CaptureResult& b, const Ignored& ignored, ModelComparison& out) {
  const auto before = ReadMeasured(a.mode_detail_json), after = ReadMeasured(b.mode_detail_json);
  if (ignored.latency || !before || !after) return;
  out.why = MeasuredUnlike(*before, *after);
  if (out.why.empty()) out.latencies = LatencyChanges(*before, *after, ignored.latency_tolerance);
}

// A new site is worse even if there are fewer breaks: somebody has to look at it.
Verdict VerdictOf(const ModelComparison& m, const Ignored& ignored) {
  if (!ignored.new_sites && !m.new_sites.empty()) return Verdict::kWorse;
  const auto count = [](const auto& changes, const auto& is) {
    return std::count_if(changes.begin(), changes.end(), is);
  };
  const auto worse = count(m.changes, [](const auto& c) { return c.worse; }) +
                     count(m.latencies, [](const auto& c) { return c.worse; });
  const auto better = count(m.changes, [](const auto& c) { return !c.worse; }) +
                      count(m.latencies, [](const auto& c) { return c.better; });
  if (worse == 0) return better == 0 ? Verdict::kSame : Verdict::kBetter;
  return better == 0 ? Verdict::kWorse : Verdict::kMixed;
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

using Key = std::pair<std::string, std::string>;  // model and mode; the mode is empty if each side has only one
using ByKey = std::map<Key, const ModelResult*>;

// A model that was skipped before its modes were planned has none.
bool HaveSeveralModes(std::span<const ModelResult> a, std::span<const ModelResult> b) {
  std::set<std::string> modes;
  for (const auto& side : {a, b}) {
    for (const ModelResult& result : side) modes.insert(result.capture.mode);
  }
  modes.erase("");
  return modes.size() > 1;
}

ByKey Index(std::span<const ModelResult> side, bool by_mode) {
  ByKey results;
  for (const ModelResult& result : side) {
    results[{result.info.id, by_mode ? result.capture.mode : std::string()}] = &result;
  }
  return results;
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
  static constexpr std::string_view kNames[] = {"worse", "mixed", "gone",        "better",
                                                "new",   "flaky", "no_baseline", "same"};
  return kNames[static_cast<std::size_t>(verdict)];
}

std::span<const Quantity> Quantities() {
  static const auto kQuantities = [] {
    std::array<Quantity, std::size(kRules)> quantities{};
    std::transform(std::begin(kRules), std::end(kRules), quantities.begin(), [](const Rule& r) { return r.quantity; });
    return quantities;
  }();
  return kQuantities;
}

ModelComparison CompareModel(const ModelResult& a, const ModelResult& b, const Ignored& ignored) {
  ModelComparison out;
  out.model = b.info.id;
  SetNumbers(a, out.a, out.breaks_a, out.sites_a), SetNumbers(b, out.b, out.breaks_b, out.sites_b);
  out.differences = DifferencesOf(a, b);
  out.why = NotComparable(a, b);
  const Status before = a.capture.status, after = b.capture.status;
  if (HasNumbers(before) != HasNumbers(after)) {
    // Whatever the cause is, also a missing package or a skip: the model is no longer watched.
    out.verdict = HasNumbers(before) ? Verdict::kWorse : Verdict::kBetter;
    return out;
  }
  if (!HasNumbers(before)) {
    out.verdict = before == after ? Verdict::kSame : Verdict::kNoBaseline;
    return out;
  }
  if (!out.why.empty()) {
    out.verdict = Verdict::kNoBaseline;
    return out;
  }
  if (IsMeasureMode(b.capture.mode)) CompareTimes(a.capture, b.capture, ignored, out);
  if (!out.why.empty()) {
    out.verdict = Verdict::kNoBaseline;
    return out;
  }
  CompareSites(a.capture, b.capture, out);
  out.changes = ChangesOf(out, a.capture, b.capture, ignored);
  out.verdict = VerdictOf(out, ignored);
  if (out.verdict != Verdict::kSame && (a.capture.flaky || b.capture.flaky)) {
    out.why = "repeated captures differed; without that: " + std::string(VerdictName(out.verdict));
    for (const QuantityChange& change : out.changes) out.why += ", " + TextOf(change);
    out.verdict = Verdict::kFlaky;
  }
  return out;
}

void PairComparison::Add(const std::string& mode, const ModelResult* a, const ModelResult* b) {
  if (a != nullptr) breakwatch::compare::Add(*a, out_.all_a);
  if (b != nullptr) breakwatch::compare::Add(*b, out_.all_b);
  out_.models.push_back(a == nullptr   ? OneSided(*b, /*is_new=*/true)
                        : b == nullptr ? OneSided(*a, /*is_new=*/false)
                                       : CompareModel(*a, *b, ignored_));
  out_.models.back().mode = mode;
  if (a != nullptr && b != nullptr) AddCompared(*a, *b, out_.models.back());
}

void PairComparison::AddCompared(const ModelResult& a, const ModelResult& b, const ModelComparison& compared) {
  for (const Difference& difference : compared.differences) ++differences_[difference];
  if (!compared.a || !HasNumbers(*compared.a) || !compared.b || !HasNumbers(*compared.b) ||
      compared.verdict == Verdict::kNoBaseline) {
    return;
  }
  breakwatch::compare::Add(a, out_.compared_a), breakwatch::compare::Add(b, out_.compared_b);
  AddReasons(a, b, reasons_);
}

Comparison PairComparison::Finish(std::string label_a, std::string label_b) {
  out_.a = std::move(label_a), out_.b = std::move(label_b);
  std::stable_sort(out_.models.begin(), out_.models.end(), [](const ModelComparison& x, const ModelComparison& y) {
    return std::tie(x.model, x.mode) < std::tie(y.model, y.mode);
  });
  for (const ModelComparison& model : out_.models) ++out_.verdicts[model.verdict];
  Order(out_, reasons_, differences_);
  return std::move(out_);
}

void EachPair(std::span<const ModelResult> a, std::span<const ModelResult> b, const UsePair& use) {
  const bool by_mode = HaveSeveralModes(a, b);
  const ByKey before = Index(a, by_mode), after = Index(b, by_mode);
  for (const auto& [key, result] : before) {
    const auto found = after.find(key);
    use(key.second, result, found == after.end() ? nullptr : found->second);
  }
  for (const auto& [key, result] : after) {
    if (!before.contains(key)) use(key.second, nullptr, result);
  }
}

Comparison Compare(const Side& a, const Side& b, const Ignored& ignored) {
  PairComparison pairs(ignored);
  EachPair(a.results, b.results,
           [&](const std::string& mode, const ModelResult* x, const ModelResult* y) { pairs.Add(mode, x, y); });
  return pairs.Finish(a.label, b.label);
}

}  // namespace breakwatch::compare
