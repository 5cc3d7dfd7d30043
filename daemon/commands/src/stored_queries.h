// StoredQueries: api::Queries on read-only store sessions of its own, opened when they are needed.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/api/queries.h"
#include "breakwatch/commands/app.h"

namespace breakwatch::commands {

// Thread: any; each query has a session to itself, and a few unused ones are kept.
class StoredQueries final : public api::Queries {
 public:
  explicit StoredQueries(const App& app) : app_(app) {}

  Result<std::vector<Sweep>> Sweeps(const std::string& before, int rows) override;
  Result<Sweep> FindSweep(const std::string& id) override;
  Result<std::vector<ModelResult>> Results(const std::string& sweep_id) override;
  Result<std::vector<PlacedResult>> ResultsAfter(const std::string& sweep_id, const std::string& mode,
                                                 std::int64_t place, const PageSize& size) override;
  Result<PlanPage> PlanAfter(const std::string& sweep_id, std::int64_t place, int rows) override;
  Result<std::vector<PlacedResult>> HistoryBefore(const std::string& model, std::int64_t place,
                                                  const PageSize& size) override;
  Result<std::vector<std::string>> ModelsAfter(const std::string& model, const std::string& contains,
                                               int rows) override;
  Result<std::map<std::string, std::vector<SitePlace>>> SitesOf(std::span<const std::string> captures) override;
  Result<CaptureResult> LoadCapture(const std::string& capture_id) override;
  Result<std::vector<ModelResult>> ResultsOf(const std::string& model) override;
  Result<std::vector<ModelResult>> NewestResults(const std::string& model, const std::string& mode,
                                                 const std::string& toolchain, const std::string& revision,
                                                 bool each_commit) override;
  Result<std::vector<api::Letter>> LettersAfter(const std::string& exporter, const std::string& after_exporter,
                                                std::int64_t after_event, const PageSize& size) override;
  Result<std::vector<TrendFold>> Trends(const TrendFilter& filter) override;
  Result<std::shared_ptr<const std::string>> Compare(const api::ComparisonQuery& query) override;

 private:
  template <class Ask>
  auto WithStore(const Ask& ask) -> decltype(ask(std::declval<store::Store&>()));
  Result<std::unique_ptr<store::Store>> TakeSession();
  void KeepSession(std::unique_ptr<store::Store> session);

  struct Compared {
    api::ComparisonQuery query;
    std::string state;  // of the history, when it was made
    std::shared_ptr<const std::string> document;
  };

  const App& app_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<store::Store>> sessions_;  // unused ones
  std::mutex comparing_;                                 // one at a time: each holds two sets of results
  Compared compared_;                                    // the newest comparison
};

}  // namespace breakwatch::commands
