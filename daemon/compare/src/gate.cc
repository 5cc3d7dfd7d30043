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

using Key = std::pair<std::string, std::string>;                          // model and mode
using AllowedSites = std::map<Key, std::map<std::string, std::int64_t>>;  // events by site_id

// The results without their allowed sites.
// `covered`: entries by site id, if they are wanted.
std::vector<ModelResult> Without(std::span<const ModelResult> results, Applied& applied, AllowedSites& allowed,
                                 std::map<std::string, std::string>* covered = nullptr) {
  std::vector<ModelResult> out(results.begin(), results.end());
  for (ModelResult& result : out) {
    CaptureResult& c = result.capture;
    std::erase_if(c.sites, [&](const BreakSite& site) {
      const AllowEntry* entry = applied.OfSite(site);
      if (entry == nullptr) return false;
      if (covered != nullptr) (*covered)[site.site_id] = EntryText(*entry);
      if (c.breaks) *c.breaks -= site.occurrences;
      if (c.break_sites) --*c.break_sites;
      allowed[{result.info.id, c.mode}][site.site_id] += site.occurrences;
      return true;
    });
  }
  return out;
}

// A break also changes what is captured, compiled again, and left to the interpreter. Where the allowed sites changed,
// nobody can say which of these changes is theirs.
void OmitWhatDependsOn(AllowedSites& a, AllowedSites& b, std::vector<ModelResult>& results) {
  for (ModelResult& result : results) {
    CaptureResult& c = result.capture;
    const Key key{result.info.id, c.mode};
    if (a[key] != b[key]) c.ops_captured.reset(), c.recompiles.reset(), c.frames_fallback.reset();
  }
}

// A baseline has no texts of reasons. They come from a site of B with the same id, or else with the same gb_id.
void NameReasons(std::vector<ModelResult>& results, const Side& named) {
  std::map<std::string, std::string> by_site, by_gb_id;
  for (const ModelResult& result : named.results) {
    for (const BreakSite& site : result.capture.sites) {
      by_site[site.site_id] = site.reason;
      if (!site.gb_id.empty()) by_gb_id[site.gb_id] = site.reason;
    }
  }
  for (ModelResult& result : results) {
    for (BreakSite& site : result.capture.sites) {
      if (!site.reason.empty()) continue;
      const auto same = by_site.find(site.site_id), like = by_gb_id.find(site.gb_id);
      site.reason = same != by_site.end() ? same->second : like != by_gb_id.end() ? like->second : site.gb_id;
    }
  }
}

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

Gated CompareWithGate(const Side& a, const Side& b, const GateRules& rules) {
  Gated out;
  Applied applied(rules.allowed, rules.today, out.gate);
  std::vector<ModelResult> named(a.results.begin(), a.results.end());
  NameReasons(named, b);
  AllowedSites allowed_a, allowed_b;
  std::vector<ModelResult> before = Without(named, applied, allowed_a),
                           after = Without(b.results, applied, allowed_b, &out.gate.allowed_sites);
  OmitWhatDependsOn(allowed_a, allowed_b, before), OmitWhatDependsOn(allowed_a, allowed_b, after);
  out.comparison = Compare({a.label, before}, {b.label, after}, rules.ignored);
  Decide(rules, applied, out);
  out.comparison.verdicts.clear();
  for (const ModelComparison& m : out.comparison.models) ++out.comparison.verdicts[m.verdict];
  out.gate.unused = applied.Unused();
  out.gate.with_numbers = ShareText(out.comparison);
  out.gate.no_baseline = a.results.empty();
  out.gate.failed = !out.gate.no_baseline && (!out.gate.failures.empty() || !out.gate.expired.empty());
  return out;
}

}  // namespace breakwatch::compare
