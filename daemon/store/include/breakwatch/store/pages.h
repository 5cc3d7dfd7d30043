// Pages: the history in bounded parts.
//
// Readers: HTTP. Owner, thread and errors: store.h.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/history_page.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/store/event_log.h"

namespace breakwatch::store {

class Pages {
 public:
  virtual ~Pages() = default;

  // Newest first, those that began before sweep `before`; empty: from the newest. Error: kNotFound, no such sweep.
  virtual Result<std::vector<Sweep>> SweepsBefore(const std::string& before, int rows) = 0;
  // In plan order, after a place; 0: from the first. An empty mode matches any. Error: kNotFound, no such sweep.
  virtual Result<std::vector<PlacedResult>> ResultsAfter(const std::string& sweep_id, const std::string& mode,
                                                         std::int64_t place, const PageSize& size) = 0;
  // Error: kNotFound, no such sweep.
  virtual Result<PlanPage> PlanAfter(const std::string& sweep_id, std::int64_t place, int rows) = 0;
  // Every result of a model, newest first, before a place; 0: from the newest.
  virtual Result<std::vector<PlacedResult>> HistoryBefore(const std::string& model, std::int64_t place,
                                                          const PageSize& size) = 0;
  // Models that ever had a result, by id, after `model`; those whose id contains a text.
  virtual Result<std::vector<std::string>> ModelsAfter(const std::string& model, const std::string& contains,
                                                       int rows) = 0;
  // The sites of captures, by capture. A capture without a site is absent.
  virtual Result<std::map<std::string, std::vector<SitePlace>>> SitesOf(std::span<const std::string> captures) = 0;
  // By exporter and event, after a letter; an empty exporter in the filter matches any.
  virtual Result<std::vector<DeadLetter>> LettersAfter(const std::string& exporter, const std::string& after_exporter,
                                                       std::int64_t after_event, const PageSize& size) = 0;
};

}  // namespace breakwatch::store
