// Queries: the read-only interface to the store. The wiring gives it its own store sessions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/core/history_page.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/core/trend_query.h"

namespace breakwatch::api {

// A dead letter as the command line prints it.
struct Letter {
  std::string exporter;
  std::int64_t event_id = 0;
  std::string json;
};

// What a comparison asks for; as the options of `breakwatch compare`.
struct ComparisonQuery {
  std::string a, b, mode;
  bool all = false;  // also models that did not change
  auto operator<=>(const ComparisonQuery&) const = default;
};

// Thread: any. Error: kStore, or kNotFound or kUsage for a named thing, with the text of the command line.
class Queries {
 public:
  virtual ~Queries() = default;
  // Newest first, those that began before sweep `before`; empty: from the newest.
  virtual Result<std::vector<Sweep>> Sweeps(const std::string& before, int rows) = 0;
  virtual Result<Sweep> FindSweep(const std::string& id) = 0;                         // or "latest"
  virtual Result<std::vector<ModelResult>> Results(const std::string& sweep_id) = 0;  // in plan order
  // As store::Pages.
  virtual Result<std::vector<PlacedResult>> ResultsAfter(const std::string& sweep_id, const std::string& mode,
                                                         std::int64_t place, const PageSize& size) = 0;
  virtual Result<PlanPage> PlanAfter(const std::string& sweep_id, std::int64_t place, int rows) = 0;
  virtual Result<std::vector<PlacedResult>> HistoryBefore(const std::string& model, std::int64_t place,
                                                          const PageSize& size) = 0;
  virtual Result<std::vector<std::string>> ModelsAfter(const std::string& model, const std::string& contains,
                                                       int rows) = 0;
  virtual Result<std::map<std::string, std::vector<SitePlace>>> SitesOf(std::span<const std::string> captures) = 0;
  virtual Result<CaptureResult> LoadCapture(const std::string& capture_id) = 0;
  // The newest of each mode and toolchain (and commit, with `each_commit`), those of the primary toolchain first;
  // never empty. An empty toolchain matches any; `revision`: a commit or its beginning. Error: kNotFound.
  virtual Result<std::vector<ModelResult>> ResultsOf(const std::string& model) = 0;
  // The same of any model, by model; may be empty.
  virtual Result<std::vector<ModelResult>> NewestResults(const std::string& model, const std::string& mode,
                                                         const std::string& toolchain, const std::string& revision,
                                                         bool each_commit) = 0;
  virtual Result<std::vector<Letter>> LettersAfter(const std::string& exporter, const std::string& after_exporter,
                                                   std::int64_t after_event, const PageSize& size) = 0;
  // By day, and then by toolchain.
  virtual Result<std::vector<TrendFold>> Trends(const TrendFilter& filter) = 0;
  // The document of `breakwatch compare --json`. Shared: the newest ones are kept.
  virtual Result<std::shared_ptr<const std::string>> Compare(const ComparisonQuery& query) = 0;
};

}  // namespace breakwatch::api
