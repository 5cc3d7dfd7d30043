// StoredQueries: api::Queries on its own read-only store session, opened at the first query.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "breakwatch/api/queries.h"
#include "breakwatch/commands/app.h"

namespace breakwatch::commands {

// Thread: any; queries run one at a time.
class StoredQueries final : public api::Queries {
 public:
  explicit StoredQueries(const App& app) : app_(app) {}
  Result<std::vector<Sweep>> Sweeps(int limit) override;
  Result<Sweep> FindSweep(const std::string& id) override;
  Result<std::vector<ModelResult>> Results(const std::string& sweep_id) override;
  Result<std::vector<ModelResult>> ResultsOf(const std::string& model) override;

 private:
  template <class Ask>
  auto WithStore(const Ask& ask) -> decltype(ask(std::declval<store::SweepStore&>()));

  const App& app_;
  std::mutex mutex_;
  std::unique_ptr<store::SweepStore> store_;
};

}  // namespace breakwatch::commands
