// Document: what a sweep or a comparison contains, as a value. Every format renders this one model.
//
// It has views of the report that it was made of, which outlives it. No text in it is escaped yet.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/report/compare.h"
#include "breakwatch/report/stream.h"
#include "breakwatch/report/sweep.h"
#include "breakwatch/report/table.h"
#include "sweep_totals.h"

namespace breakwatch::report {

inline constexpr int kDocumentVersion = 1;  // of the JSON documents

// How a model and mode, or an entry of the allow-list, ended for a build.
enum class Outcome {
  kPassed,
  kFailed,   // the gate fails because of it; without a gate: a failed status
  kError,    // not_attempted, worker_lost: the sweep is incomplete
  kSkipped,  // skipped_*, and what the gate does not judge
};

struct Case {
  const ModelResult* result = nullptr;  // null: the model has no result, or it is an entry of the allow-list
  std::string family, model, mode;      // an entry: "gate", "allow-list" and its text
  Outcome outcome = Outcome::kPassed;
  std::string type;     // a status, a verdict, or "expired"
  std::string message;  // one line
};

enum class Severity { kNote, kWarning, kError };  // kError: the gate fails because of it; kNote: allowed

// A break site of one model and mode.
struct Issue {
  const BreakSite* site = nullptr;
  const ModelResult* result = nullptr;  // null: the site is gone
  std::string model, mode;
  std::int64_t events = 0;
  Severity severity = Severity::kWarning;
  std::string state;       // of a comparison: "new", "unchanged", "updated" or "absent"
  std::string allowed_by;  // the entry of the allow-list
};

// A break site with all models that have it; absent: with those that had it.
struct SiteGroup {
  const BreakSite* site = nullptr;
  std::int64_t events = 0;
  std::vector<const Issue*> issues;
  Severity severity = Severity::kNote;  // the highest
  std::string state;                    // over all models
  std::string allowed_by;               // not empty: all issues are allowed
};

struct Section {
  std::string id;  // "reasons"
  Table table;
  bool open = false;      // not folded
  std::size_t count = 0;  // in its title: the rows, or the results that they count
  PackedRows packed{};    // the rows, if the table has none: of Markdown only

  std::size_t rows() const { return table.rows.size() + packed.size(); }
  std::vector<Cell> Row(std::size_t place) const { return packed.size() > 0 ? packed.At(place) : table.rows[place]; }
};

enum class GateState { kNone, kPassed, kFailed, kNoBaseline };

struct Document {
  std::string title, summary;
  GateState gate = GateState::kNone;
  std::string gate_summary;
  std::vector<std::string> gate_lines;
  std::vector<std::pair<std::string, std::string>> facts;  // name and value
  std::vector<Section> sections;                           // the most important first
  std::vector<std::string> notes;
  std::vector<Case> cases;
  std::vector<Issue> issues;
  bool is_comparison = false;
  SystemTime started_at{}, made_at{};
};

Document DocumentOf(const SweepReport& report);
Document DocumentOf(const ComparisonReport& report);
// Without cases and issues.
Document DocumentOf(const StreamedSweep& sweep, Gathered gathered);

// The most important first: by severity, then by the number of models, then by events.
std::vector<SiteGroup> GroupSites(const std::vector<Issue>& issues);
// A row per group. Fields: reason, gb_id, fixability, events, models, place, function, source_line, example_model,
// site_id.
Table SiteTable(const std::vector<SiteGroup>& groups);

// The models of a group; with several modes it has more issues.
std::int64_t CountModels(const SiteGroup& group);

// "org/name", or "org/name (train)" in another mode than the main one.
std::string ModelAndMode(const std::string& model, const std::string& mode);
// "transformers/models/x.py:12".
std::string PlaceOf(const BreakSite& site);
// "2 breaks in org/name", "no breaks any more in 3 results, for example org/name": one line.
std::string OccurrencesText(const SiteGroup& group);
// "Data-dependent branching [GB0170]".
std::string ReasonText(const BreakSite& site);

// The formats that are not made of a Document.
std::string SweepInText(const SweepReport& report, Format format, Style style);
std::string ComparisonInText(const ComparisonReport& report, Format format, Style style);
// What SweepInText writes below the table of models, if no results are compared; and its JSON without results.
std::string TextAfterModels(const StreamedSweep& sweep, const SweepTotals& totals, Style style);
std::string SweepFrame(const StreamedSweep& sweep, const SweepTotals& totals);
// SummaryLine, and which results were selected. `filter` may be empty.
std::string SweepSummary(const Sweep& sweep, std::string_view filter, std::size_t results);

}  // namespace breakwatch::report
