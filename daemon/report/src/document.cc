#include "document.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "breakwatch/compare/gate.h"
#include "breakwatch/core/text.h"
#include "comparison_tables.h"
#include "gate_text.h"

namespace breakwatch::report {
namespace {

using compare::GateDecision;
using compare::GateFinding;

constexpr std::size_t kTopReasons = 15;

// What the gate decided about a model and mode. A finding without a mode is about the only one.
class Decided {
 public:
  Decided(const GateDecision* gate, bool allowed) {
    if (gate == nullptr) return;
    for (const GateFinding& finding : allowed ? gate->allowed : gate->failures) {
      findings_[{finding.model, finding.mode}] = &finding;
    }
  }
  const GateFinding* Of(const std::string& model, const std::string& mode) const {
    const auto found = findings_.find({model, mode});
    const auto any = found == findings_.end() ? findings_.find({model, ""}) : found;
    return any == findings_.end() ? nullptr : any->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, const GateFinding*> findings_;
};

std::string TextOf(const GateFinding& finding) {
  return finding.text.empty() ? std::string(compare::VerdictName(finding.verdict)) : finding.text;
}

Case CaseOf(const ModelResult& result, const GateFinding* failure, bool has_gate) {
  const CaptureResult& c = result.capture;
  const std::string status(StatusName(c.status));
  Case out{&result, std::string(FamilyName(result.info.family)), result.info.id, c.mode, Outcome::kPassed, status,
           c.detail};
  if (failure != nullptr) {
    out.outcome = Outcome::kFailed, out.type = compare::VerdictName(failure->verdict), out.message = TextOf(*failure);
  } else if (IsIncomplete(c.status)) {
    out.outcome = Outcome::kError;
  } else if (IsSkipped(c.status)) {
    out.outcome = Outcome::kSkipped;
  } else if (!HasNumbers(c.status)) {
    out.outcome = has_gate ? Outcome::kSkipped : Outcome::kFailed;
    if (has_gate) out.message = "not worse than the baseline: " + c.detail;
  }
  return out;
}

std::vector<Case> CasesOf(std::span<const ModelResult> results, const GateDecision* gate) {
  const Decided failures(gate, /*allowed=*/false);
  const bool has_gate = gate != nullptr && !gate->no_baseline;
  std::vector<Case> cases;
  std::set<std::string, std::less<>> models;
  for (const ModelResult& result : results) {
    models.insert(result.info.id);
    cases.push_back(CaseOf(result, failures.Of(result.info.id, result.capture.mode), has_gate));
  }
  if (gate == nullptr) return cases;
  for (const GateFinding& finding : gate->failures) {
    if (finding.verdict != compare::Verdict::kGone) continue;
    const std::string mode = finding.mode.empty() ? "eval" : finding.mode;
    cases.push_back({nullptr, "gone", finding.model, mode, Outcome::kFailed, "gone", TextOf(finding)});
  }
  for (const std::string& entry : gate->expired) {
    cases.push_back(
        {nullptr, "gate", "allow-list", entry, gate->failed ? Outcome::kFailed : Outcome::kSkipped, "expired", entry});
  }
  return cases;
}

// A site without an id is never the one that a list names.
bool Has(const std::vector<std::string>& ids, const BreakSite& site) {
  return !site.site_id.empty() && std::find(ids.begin(), ids.end(), site.site_id) != ids.end();
}

// The entry of the allow-list that covers a site, or null.
const std::string* EntryOf(const GateDecision* gate, const BreakSite& site) {
  if (gate == nullptr || site.site_id.empty()) return nullptr;
  const auto entry = gate->allowed_sites.find(site.site_id);
  return entry == gate->allowed_sites.end() ? nullptr : &entry->second;
}

std::vector<Issue> IssuesOf(std::span<const ModelResult> results, const GateDecision* gate) {
  const Decided failures(gate, /*allowed=*/false), allowed(gate, /*allowed=*/true);
  std::vector<Issue> issues;
  for (const ModelResult& result : results) {
    const GateFinding* failure = failures.Of(result.info.id, result.capture.mode);
    const GateFinding* accepted = allowed.Of(result.info.id, result.capture.mode);
    for (const BreakSite& site : result.capture.sites) {
      Issue issue{&site, &result, result.info.id, result.capture.mode, site.occurrences, Severity::kWarning, {}, {}};
      if (failure != nullptr && Has(failure->new_sites, site)) issue.severity = Severity::kError;
      if (accepted != nullptr && Has(accepted->new_sites, site)) issue.allowed_by = accepted->entry;
      if (const std::string* entry = EntryOf(gate, site)) issue.allowed_by = *entry;
      if (!issue.allowed_by.empty()) issue.severity = Severity::kNote;
      issues.push_back(std::move(issue));
    }
  }
  return issues;
}

using SiteOfModel = std::tuple<std::string, std::string, std::string>;  // model, mode, site_id

// Adds the state of each issue, and the sites that are gone.
void AddStates(const compare::Comparison& comparison, std::vector<Issue>& issues) {
  std::map<SiteOfModel, const char*> states;
  std::set<std::pair<std::string, std::string>> new_models;
  std::vector<Issue> gone;
  for (const compare::ModelComparison& m : comparison.models) {
    if (!m.a) new_models.insert({m.model, m.mode});
    for (const auto& s : m.new_sites) states[{m.model, m.mode, s.site.site_id}] = "new";
    for (const auto& s : m.changed_sites) states[{m.model, m.mode, s.site.site_id}] = "updated";
    for (const auto& s : m.gone_sites) {
      gone.push_back({&s.site, nullptr, m.model, m.mode, s.before, Severity::kNote, "absent", {}});
    }
  }
  for (Issue& issue : issues) {
    for (const std::string& mode : {issue.mode, std::string()}) {  // one mode on both sides: it is not named
      const auto found = states.find({issue.model, mode, issue.site->site_id});
      if (found != states.end()) issue.state = found->second;
      if (issue.state.empty() && new_models.contains({issue.model, mode})) issue.state = "new";
    }
    if (issue.state.empty()) issue.state = "unchanged";
  }
  issues.insert(issues.end(), gone.begin(), gone.end());
}

void AddGate(Document& document, const GateDecision* gate) {
  if (gate == nullptr) return;
  document.gate = gate->no_baseline ? GateState::kNoBaseline : gate->failed ? GateState::kFailed : GateState::kPassed;
  document.gate_summary = GateSummary(*gate);
  document.gate_lines = GateLines(*gate);
}

// Sections without rows are left out, unless their emptiness is a result.
void AddSection(Document& document, const std::string& id, const std::string& title, Table table, bool open,
                bool if_empty = false) {
  if (table.rows.empty() && !if_empty) return;
  table.title = title;
  const std::size_t rows = table.rows.size();
  document.sections.push_back({id, std::move(table), open, rows, {}});
}

void AddTotals(Document& document, const SweepTotals& totals) {
  AddSection(document, "reasons", totals.ReasonsTitle(), totals.Reasons(ReasonOrder::kEvents, kTopReasons),
             /*open=*/true, /*if_empty=*/true);
  AddSection(document, "failures", totals.FailuresTitle(), totals.Failures(), /*open=*/false, /*if_empty=*/true);
  document.sections.back().count = totals.without_numbers();
}

std::string DurationOf(const Sweep& sweep) {
  if (sweep.finished_at == SystemTime{}) return "not finished";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(sweep.finished_at - sweep.started_at).count();
  return std::to_string(seconds) + " s";
}

std::string SecondsOf(SystemTime time) { return FormatTime(time).substr(0, 19) + "Z"; }

Document HeadOf(const Sweep& sweep, SystemTime made_at, std::string_view filter) {
  Document out;
  out.title = "Where torch.compile breaks";
  out.started_at = sweep.started_at;
  out.made_at = made_at == SystemTime{} ? sweep.finished_at : made_at;
  out.facts = {{"sweep", sweep.id},
               {"source", sweep.source},
               {"trigger", std::string(SweepTriggerName(sweep.trigger))},
               {"started", SecondsOf(sweep.started_at)},
               {"took", DurationOf(sweep)},
               {"complete", sweep.complete ? "yes" : "no"},
               {"toolchain", sweep.toolchain.Key()}};
  if (!filter.empty()) out.facts.emplace_back("selected", filter);
  return out;
}

}  // namespace

Document DocumentOf(const SweepReport& report) {
  Document out = HeadOf(report.sweep, report.made_at, report.filter);
  out.summary = SweepSummary(report.sweep, report.filter, report.results.size());
  AddGate(out, report.gate);
  out.cases = CasesOf(report.results, report.gate);
  out.issues = IssuesOf(report.results, report.gate);
  const SweepTotals totals = TotalsOf(report.results);
  AddTotals(out, totals);
  AddSection(out, "differences", "Differences between modes and calls", DifferenceTable(report.results, report.others),
             /*open=*/false);
  AddSection(out, "models", "Models", ResultTable(report.results), /*open=*/false, /*if_empty=*/true);
  AddSection(out, "sites", "Break sites", SiteTable(GroupSites(out.issues)), /*open=*/false);
  if (const std::string note = totals.OpsNote(); !note.empty()) out.notes.push_back(note);
  return out;
}

Document DocumentOf(const StreamedSweep& sweep, Gathered gathered) {
  const SweepTotals& totals = gathered.totals;
  Document out = HeadOf(sweep.sweep, sweep.made_at, sweep.filter);
  out.summary = SweepSummary(sweep.sweep, sweep.filter, totals.results());
  AddTotals(out, totals);
  AddSection(out, "models", "Models", ResultTableOf(totals, {}), /*open=*/false, /*if_empty=*/true);
  out.sections.back().count = gathered.rows.size();
  out.sections.back().packed = std::move(gathered.rows);
  AddSection(out, "sites", "Break sites", gathered.sites.Sites(), /*open=*/false);
  if (const std::string note = totals.OpsNote(); !note.empty()) out.notes.push_back(note);
  return out;
}

Document DocumentOf(const ComparisonReport& report) {
  const compare::Comparison& c = report.comparison;
  Document out;
  out.title = "Comparison", out.summary = ComparisonSummary(c), out.is_comparison = true, out.made_at = report.made_at;
  out.facts = {{"A (old)", c.a}, {"B (new)", c.b}};
  if (!report.filter.empty()) out.facts.emplace_back("selected", report.filter);
  if (report.is_gate) AddGate(out, report.gate);
  out.cases = CasesOf(report.results, report.gate);
  out.issues = IssuesOf(report.results, report.gate);
  AddStates(c, out.issues);
  AddSection(out, "models", "Changed models", ComparisonTable(c, report.all), /*open=*/true, /*if_empty=*/true);
  AddSection(out, "differences", "Other differences", OtherDifferenceTable(c), /*open=*/false, /*if_empty=*/true);
  AddSection(out, "reasons", "By reason", ReasonChangeTable(c), /*open=*/false);
  AddSection(out, "totals", "Totals", TotalsTable(c), /*open=*/false);
  AddSection(out, "sites", "Sites", SiteChangeTable(c), /*open=*/false);
  return out;
}

}  // namespace breakwatch::report
