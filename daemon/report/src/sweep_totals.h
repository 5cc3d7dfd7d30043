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

#include "breakwatch/report/sweep.h"

namespace breakwatch::report {

class SweepTotals {
 public:
  // In plan order: of equal results the first is the example.
  void Add(const ModelResult& result);

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
  // Of one reason over all models.
  struct ReasonRow {
    std::string reason, gb_id, fixability;
    std::int64_t events = 0, sites = 0, most = -1, leverage = 0;
    std::set<std::string> models, families;
    std::string example_model, example_site;

    void Add(const ModelResult& result, const BreakSite& site);
    std::int64_t Weight(ReasonOrder order) const;
  };
  struct Failure {
    std::int64_t models = 0;
    std::string phase, suggestion, example, error;  // of the first
  };
  using ReasonId = std::pair<std::string, std::string>;            // reason, gb_id
  using FailureId = std::tuple<Status, std::string, std::string>;  // status, detail, mode

  void AddReasons(const ModelResult& result);
  void AddFailure(const ModelResult& result);
  // The mode whose reasons are shown, because modes are not summed: the main mode, or the first if it is missing.
  std::string SpeakingMode() const;

  std::size_t results_ = 0, without_numbers_ = 0;
  bool has_owners_ = false, has_other_modes_ = false, has_main_mode_ = false, has_ops_of_another_run_ = false;
  std::string first_mode_;
  std::map<std::string, std::map<ReasonId, ReasonRow>> reasons_;  // by mode
  std::map<FailureId, Failure> failures_;
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
  std::vector<std::vector<Cell>> rows;  // of ResultTable

  void Add(const ModelResult& result);
};

SweepTotals TotalsOf(std::span<const ModelResult> results);

// A row of ResultTable, and the table of such rows.
std::vector<Cell> ResultRow(const ModelResult& result, const std::string& differs = {});
Table ResultTableOf(const SweepTotals& totals, std::vector<std::vector<Cell>> rows);

}  // namespace breakwatch::report
