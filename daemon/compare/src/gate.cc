#include "breakwatch/compare/gate.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "breakwatch/core/text.h"

namespace breakwatch::compare {
namespace {

std::string DateText(std::chrono::year_month_day date) {
  char text[16];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
  return text;
}

std::string EntryText(const AllowEntry& entry) {
  return Describe(entry) + (entry.flaky ? " (flaky)" : "") + ", owner " + entry.owner + ", until " +
         DateText(entry.expires) + " (" + entry.place + ")";
}

// The entries that apply today, and which of them matched something.
class Applied {
 public:
  Applied(const AllowList& list, std::chrono::year_month_day today, GateDecision& gate) {
    for (const AllowEntry& entry : list.entries) {
      if (entry.expires < today) {
        gate.expired.push_back(EntryText(entry) + ": expired");
      } else {
        entries_.push_back(&entry);
      }
    }
  }

  // A flaky entry covers every change; another one only what fails.
  const AllowEntry* OfModel(const std::string& model, bool fails) {
    return Use(
        [&](const AllowEntry& e) { return e.of == AllowEntry::Of::kModel && e.value == model && (e.flaky || fails); });
  }
  const AllowEntry* OfSite(const BreakSite& site) {
    return Use([&](const AllowEntry& e) {
      if (e.of == AllowEntry::Of::kSite) return e.value == site.site_id;
      return e.of == AllowEntry::Of::kReason && (e.value == site.gb_id || e.value == site.reason);
    });
  }
  std::vector<std::string> Unused() const {
    std::vector<std::string> unused;
    for (const AllowEntry* entry : entries_) {
      if (!used_.contains(entry)) unused.push_back(EntryText(*entry));
    }
    return unused;
  }

 private:
  // The first entry that matches. All that do are used: entries may overlap.
  template <class Matches>
  const AllowEntry* Use(const Matches& matches) {
    const AllowEntry* first = nullptr;
    for (const AllowEntry* entry : entries_) {
      if (!matches(*entry)) continue;
      used_.insert(entry);
      if (first == nullptr) first = entry;
    }
    return first;
  }

  std::vector<const AllowEntry*> entries_;
  std::set<const AllowEntry*> used_;
};

using AllowedSites = std::map<std::string, std::int64_t>;  // events by site_id

// Removes the allowed sites of a result.
// `covered`: entries by site id, if they are wanted.
AllowedSites RemoveAllowed(ModelResult& result, Applied& applied, std::map<std::string, std::string>* covered) {
  AllowedSites allowed;
  CaptureResult& c = result.capture;
  std::erase_if(c.sites, [&](const BreakSite& site) {
    const AllowEntry* entry = applied.OfSite(site);
    if (entry == nullptr) return false;
    if (covered != nullptr) (*covered)[site.site_id] = EntryText(*entry);
    if (c.breaks) *c.breaks -= site.occurrences;
    if (c.break_sites) --*c.break_sites;
    allowed[site.site_id] += site.occurrences;
    return true;
  });
  return allowed;
}

// The texts of reasons by what a baseline has of a site.
struct ReasonNames {
  std::map<std::string, std::string> by_site, by_gb_id;

  void Learn(const ModelResult& result) {
    for (const BreakSite& site : result.capture.sites) {
      by_site[site.site_id] = site.reason;
      if (!site.gb_id.empty()) by_gb_id[site.gb_id] = site.reason;
    }
  }
  void Name(ModelResult& result) const {
    for (BreakSite& site : result.capture.sites) {
      if (!site.reason.empty()) continue;
      const auto same = by_site.find(site.site_id), like = by_gb_id.find(site.gb_id);
      site.reason = same != by_site.end() ? same->second : like != by_gb_id.end() ? like->second : site.gb_id;
    }
  }
};

std::string TextOf(const ModelComparison& m) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const QuantityChange& c : m.changes) add(c.name + " " + std::to_string(c.a) + " -> " + std::to_string(c.b));
  for (const LatencyChange& c : m.latencies) {
    if (c.worse || c.better) add(LatencyText(c));
  }
  if (!m.new_sites.empty()) add(Counted(static_cast<std::int64_t>(m.new_sites.size()), "new site"));
  if (!m.gone_sites.empty() && m.verdict == Verdict::kBetter) {
    add(Counted(static_cast<std::int64_t>(m.gone_sites.size()), "site") + " gone");
  }
  if (text.empty()) text = m.why;
  if (text.empty() && m.verdict == Verdict::kGone) text = "no result in B";
  return text;
}

bool IsRegression(const ModelComparison& m, const GateRules& rules) {
  if (m.verdict == Verdict::kWorse || m.verdict == Verdict::kMixed) return true;
  return m.verdict == Verdict::kGone && !rules.ignore_gone && m.a && HasNumbers(*m.a);
}

std::string ShareText(const Comparison& c) {
  const auto share = [](const Totals& t) {
    return std::to_string(t.models - t.without_numbers) + " of " + std::to_string(t.models);
  };
  return share(c.all_a) + " -> " + share(c.all_b) + " results have numbers";
}

void Decide(const GateRules& rules, Applied& applied, Gated& out) {
  for (ModelComparison& m : out.comparison.models) {
    const bool fails = IsRegression(m, rules);
    const AllowEntry* entry = applied.OfModel(m.model, fails);
    GateFinding finding{m.model, m.mode, m.verdict, TextOf(m), entry == nullptr ? "" : EntryText(*entry), {}};
    for (const SiteChange& site : m.new_sites) finding.new_sites.push_back(site.site.site_id);
    const bool changed = fails || m.verdict == Verdict::kBetter;
    if (changed && entry != nullptr && entry->flaky) {
      m.why = "flaky: " + entry->why + "; without that: " + std::string(VerdictName(m.verdict));
      m.verdict = finding.verdict = Verdict::kFlaky;
    }
    if (fails) {
      (entry == nullptr ? out.gate.failures : out.gate.allowed).push_back(std::move(finding));
    } else if (m.verdict == Verdict::kBetter) {
      out.gate.improved.push_back(std::move(finding));
    }
  }
}

}  // namespace

class GatedPairs::Impl {
 public:
  explicit Impl(const GateRules& rules)
      : rules_(rules), applied_(rules.allowed, rules.today, out_.gate), pairs_(rules.ignored) {}

  void NameReasonsBy(const ModelResult& b) { names_.Learn(b); }

  void Add(const std::string& mode, const ModelResult* a, const ModelResult* b) {
    is_empty_ = is_empty_ && a == nullptr;
    std::optional<ModelResult> before, after;
    AllowedSites allowed_a, allowed_b;
    if (a != nullptr) {
      names_.Name(before.emplace(*a));
      allowed_a = RemoveAllowed(*before, applied_, nullptr);
    }
    if (b != nullptr) allowed_b = RemoveAllowed(after.emplace(*b), applied_, &out_.gate.allowed_sites);
    // A break also changes what is captured, compiled again, and left to the interpreter. Where the allowed sites
    // changed, nobody can say which of these changes is theirs.
    if (a != nullptr && b != nullptr && allowed_a != allowed_b) {
      for (CaptureResult* c : {&before->capture, &after->capture})
        c->ops_captured.reset(), c->recompiles.reset(), c->frames_fallback.reset();
    }
    pairs_.Add(mode, before ? &*before : nullptr, after ? &*after : nullptr);
  }

  Gated Finish(std::string label_a, std::string label_b) {
    out_.comparison = pairs_.Finish(std::move(label_a), std::move(label_b));
    Decide(rules_, applied_, out_);
    out_.comparison.verdicts.clear();
    for (const ModelComparison& m : out_.comparison.models) ++out_.comparison.verdicts[m.verdict];
    out_.gate.unused = applied_.Unused();
    out_.gate.with_numbers = ShareText(out_.comparison);
    out_.gate.no_baseline = is_empty_;
    out_.gate.failed = !out_.gate.no_baseline && (!out_.gate.failures.empty() || !out_.gate.expired.empty());
    return std::move(out_);
  }

 private:
  const GateRules& rules_;
  Gated out_;
  Applied applied_;
  ReasonNames names_;
  PairComparison pairs_;
  bool is_empty_ = true;  // A has no result
};

GatedPairs::GatedPairs(const GateRules& rules) : impl_(std::make_unique<Impl>(rules)) {}
GatedPairs::~GatedPairs() = default;
void GatedPairs::NameReasonsBy(const ModelResult& b) { impl_->NameReasonsBy(b); }
void GatedPairs::Add(const std::string& mode, const ModelResult* a, const ModelResult* b) { impl_->Add(mode, a, b); }
Gated GatedPairs::Finish(std::string label_a, std::string label_b) {
  return impl_->Finish(std::move(label_a), std::move(label_b));
}

Gated CompareWithGate(const Side& a, const Side& b, const GateRules& rules) {
  GatedPairs pairs(rules);
  for (const ModelResult& result : b.results) pairs.NameReasonsBy(result);
  EachPair(a.results, b.results,
           [&](const std::string& mode, const ModelResult* x, const ModelResult* y) { pairs.Add(mode, x, y); });
  return pairs.Finish(a.label, b.label);
}

}  // namespace breakwatch::compare
