#include "stored_queries.h"

#include "breakwatch/core/text.h"
#include "commands.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kSessionsKept = 4;

}  // namespace

Result<std::unique_ptr<store::Store>> StoredQueries::TakeSession() {
  {
    const std::lock_guard lock(mutex_);
    if (!sessions_.empty()) {
      auto session = std::move(sessions_.back());
      sessions_.pop_back();
      return session;
    }
  }
  return app_.open_store(app_.settings(), /*read_only=*/true);
}

void StoredQueries::KeepSession(std::unique_ptr<store::Store> session) {
  const std::lock_guard lock(mutex_);
  if (sessions_.size() < kSessionsKept) sessions_.push_back(std::move(session));
}

template <class Ask>
auto StoredQueries::WithStore(const Ask& ask) -> decltype(ask(std::declval<store::Store&>())) {
  auto session = TakeSession();
  if (!session) return session.error();
  auto answer = ask(**session);
  // A failed session may be unusable: the next query opens a new one.
  if (answer || answer.error().code != ErrorCode::kStore) KeepSession(*std::move(session));
  return answer;
}

Result<std::vector<Sweep>> StoredQueries::Sweeps(const std::string& before, int rows) {
  return WithStore([&](store::Store& store) { return store.SweepsBefore(before, rows); });
}
Result<Sweep> StoredQueries::FindSweep(const std::string& id) {
  return WithStore([&](store::Store& store) { return store.FindSweep(id); });
}
Result<std::vector<ModelResult>> StoredQueries::Results(const std::string& sweep_id) {
  return WithStore([&](store::Store& store) { return store.Results(sweep_id); });
}
Result<std::vector<PlacedResult>> StoredQueries::ResultsAfter(const std::string& sweep_id, const std::string& mode,
                                                              std::int64_t place, const PageSize& size) {
  return WithStore([&](store::Store& store) { return store.ResultsAfter(sweep_id, mode, place, size); });
}
Result<PlanPage> StoredQueries::PlanAfter(const std::string& sweep_id, std::int64_t place, int rows) {
  return WithStore([&](store::Store& store) { return store.PlanAfter(sweep_id, place, rows); });
}
Result<std::vector<PlacedResult>> StoredQueries::HistoryBefore(const std::string& model, std::int64_t place,
                                                               const PageSize& size) {
  return WithStore([&](store::Store& store) { return store.HistoryBefore(model, place, size); });
}
Result<std::vector<std::string>> StoredQueries::ModelsAfter(const std::string& model, const std::string& contains,
                                                            int rows) {
  return WithStore([&](store::Store& store) { return store.ModelsAfter(model, contains, rows); });
}
Result<std::map<std::string, std::vector<SitePlace>>> StoredQueries::SitesOf(std::span<const std::string> captures) {
  return WithStore([&](store::Store& store) { return store.SitesOf(captures); });
}
Result<CaptureResult> StoredQueries::LoadCapture(const std::string& capture_id) {
  return WithStore([&](store::Store& store) { return store.LoadCapture(capture_id); });
}

Result<std::vector<ModelResult>> StoredQueries::ResultsOf(const std::string& model) {
  return WithStore([&](store::Store& store) -> Result<std::vector<ModelResult>> {
    auto results = commands::ResultsOf(store, app_.settings(), model);
    if (!results || !results->empty()) return results;
    const auto found = FindModel(store, model);  // for its message, which names similar models
    const std::string message =
        found ? "no result of model \"" + model + "\"; did you mean \"" + *found + "\"?" : found.error().message;
    return Error{ErrorCode::kNotFound, message};
  });
}

Result<std::vector<ModelResult>> StoredQueries::NewestResults(const std::string& model, const std::string& mode,
                                                              const std::string& toolchain, const std::string& revision,
                                                              bool each_commit) {
  return WithStore([&](store::Store& store) {
    return store.NewestResults(
        {.model = model, .mode = mode, .toolchain = toolchain, .revision = revision, .each_commit = each_commit});
  });
}

Result<std::vector<api::Letter>> StoredQueries::LettersAfter(const std::string& exporter,
                                                             const std::string& after_exporter,
                                                             std::int64_t after_event, const PageSize& size) {
  const auto letters =
      WithStore([&](store::Store& store) { return store.LettersAfter(exporter, after_exporter, after_event, size); });
  if (!letters) return letters.error();
  std::vector<api::Letter> out;
  for (const store::DeadLetter& letter : *letters)
    out.push_back({letter.exporter, letter.event.id, LetterJson(letter)});
  return out;
}

Result<std::vector<TrendFold>> StoredQueries::Trends(const TrendFilter& filter) {
  return WithStore([&](store::Store& store) { return store.ReadTrends(filter); });
}

Result<std::shared_ptr<const std::string>> StoredQueries::Compare(const api::ComparisonQuery& query) {
  const std::lock_guard lock(comparing_);
  return WithStore([&](store::Store& store) -> Result<std::shared_ptr<const std::string>> {
    const auto newest = store.Sweeps(1);
    if (!newest) return newest.error();
    const std::string state = newest->empty() ? "" : newest->front().id + FormatTime(newest->front().finished_at);
    if (compared_.document && compared_.query == query && compared_.state == state) return compared_.document;
    auto document = CompareStored(store, app_.settings(), query);
    if (!document) return document.error();
    compared_ = {query, state, std::make_shared<const std::string>(*std::move(document))};
    return compared_.document;
  });
}

}  // namespace breakwatch::commands
