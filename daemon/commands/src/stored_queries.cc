#include "stored_queries.h"

#include "commands.h"

namespace breakwatch::commands {

template <class Ask>
auto StoredQueries::WithStore(const Ask& ask) -> decltype(ask(std::declval<store::SweepStore&>())) {
  const std::lock_guard lock(mutex_);
  if (!store_) {
    auto opened = app_.open_store(app_.settings(), /*read_only=*/true);
    if (!opened) return opened.error();
    store_ = std::move(*opened);
  }
  auto answer = ask(*store_);
  // A failed session may be unusable: the next query opens a new one.
  if (!answer && answer.error().code == ErrorCode::kStore) store_.reset();
  return answer;
}

Result<std::vector<Sweep>> StoredQueries::Sweeps(int limit) {
  return WithStore([&](store::SweepStore& store) { return store.Sweeps(limit); });
}
Result<Sweep> StoredQueries::FindSweep(const std::string& id) {
  return WithStore([&](store::SweepStore& store) { return store.FindSweep(id); });
}
Result<std::vector<ModelResult>> StoredQueries::Results(const std::string& sweep_id) {
  return WithStore([&](store::SweepStore& store) { return store.Results(sweep_id); });
}
Result<std::vector<ModelResult>> StoredQueries::ResultsOf(const std::string& model) {
  return WithStore([&](store::SweepStore& store) { return commands::ResultsOf(store, app_.settings(), model); });
}

}  // namespace breakwatch::commands
