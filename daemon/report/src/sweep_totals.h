// SweepTotals: what the tables of a sweep say about all its results together, gathered from one result at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "breakwatch/core/fix_effects.h"
#include "breakwatch/report/sweep.h"
#include "packed_rows.h"

namespace breakwatch::report {

class SweepTotals {
 public:
  // In plan order: of equal results the first is the example.
  void Add(const ModelResult& result);

  // A result of mode fix, of this sweep or another: what its fixes did to the reasons of the same model and commit.
  void AddTried(const ModelResult& result);

  // See ReasonTable and FailureTable.
  Table Reasons(ReasonOrder order, std::size_t limit) const;
  Table Failures() const;

  std::string ReasonsTitle() const;
  std::string FailuresTitle() const;
  std::string OpsNote() const;
  // The title of the column of modes; empty if all results are of the main mode.
  std::string ModeTitle() const { return has_other_modes_ ? "MODE" : ""; }
  bool has_owners() const { return has_owners_; }  // models.file owns some of the models
  std::size_t results() const { return results_; }
  std::size_t without_numbers() const { return without_numbers_; }

 private:
  using ModelKey = std::pair<std::string, std::string>;  // model and commit, as other code may break otherwise
  struct ReasonModel {
    std::int64_t downloads = 0;
    bool is_only_reason = false;
  };
  // What the tried fixes did to one reason.
  struct Fixed {
    std::int64_t tried = 0;                                                         // models
    std::map<std::string, std::int64_t> removed_by;                                 // models, by fix
    std::int64_t leverage_downloads = 0, made_whole = 0, made_whole_downloads = 0;  // of models with no other reason
    std::vector<std::string_view> fixability;

    std::pair<std::string, std::int64_t> Best() const;  // the fix that removed it on most models; 0: none did
  };
  // Of one reason over all models.
  struct ReasonRow {
    std::string reason, gb_id, category;
    std::int64_t events = 0, sites = 0, most = -1, leverage = 0;
    std::map<std::uint32_t, ReasonModel> models;  // by NumberOf: names would be repeated for each reason
    std::set<std::string> families;
    std::string example_model, example_site;

    void Add(const ModelResult& result, std::uint32_t model, const BreakSite& site);
    std::int64_t Weight(ReasonOrder order) const;
  };
  struct Failure {
    std::int64_t models = 0;
    std::string phase, suggestion, example, error;  // of the first
  };
  using ReasonId = std::pair<std::string, std::string>;            // reason, gb_id
  using FailureId = std::tuple<Status, std::string, std::string>;  // status, detail, mode

  using Tried = std::map<std::uint32_t, const FixEffects*>;

  std::uint32_t NumberOf(const ModelResult& result);
  Tried TriedByNumber() const;
  static Fixed FixedOf(const ReasonRow& row, const Tried& tried);
  void AddReasons(const ModelResult& result);
  void AddFailure(const ModelResult& result);
  // The mode whose reasons are shown, because modes are not summed: the main mode, or the first if it is missing.
  std::string SpeakingMode() const;

  std::size_t results_ = 0, without_numbers_ = 0;
  bool has_owners_ = false, has_other_modes_ = false, has_main_mode_ = false, has_ops_of_another_run_ = false;
  std::string first_mode_;
  std::map<std::string, std::map<ReasonId, ReasonRow>> reasons_;  // by mode
  std::map<FailureId, Failure> failures_;
  std::map<ModelKey, std::uint32_t> numbers_;
  std::map<ModelKey, FixEffects> tried_;
};

// The break sites of all models, without what a gate says about them.
class SiteTotals {
 public:
  void Add(const ModelResult& result);
  Table Sites() const;  // as SiteTable

 private:
  struct Group {
    BreakSite site;  // of the first model; only what the table shows
    std::int64_t events = 0;
    std::size_t results = 0;
    std::set<std::string> models;
    std::string example;
  };
  std::map<std::string, Group> groups_;
};

// All that the tables of a sweep need of its results.
struct Gathered {
  SweepTotals totals;
  SiteTotals sites;
  PackedRows rows;  // of ResultTable

  void Add(const ModelResult& result);
};

SweepTotals TotalsOf(std::span<const ModelResult> results);

// A row of ResultTable, and the table of such rows.
std::vector<Cell> ResultRow(const ModelResult& result, const std::string& differs = {});
Table ResultTableOf(const SweepTotals& totals, std::vector<std::vector<Cell>> rows);

}  // namespace breakwatch::report
