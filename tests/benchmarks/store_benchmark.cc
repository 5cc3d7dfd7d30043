// Measures how fast the store appends results and reads events. Uses SQLite in the folder for temporary files: set
// TMPDIR to the disk to measure. An append is one durable transaction, as in a sweep.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/store/store.h"

namespace breakwatch::store {
namespace {

class ScratchStore {
 public:
  ScratchStore() {
    std::string pattern = (std::filesystem::temp_directory_path() / "breakwatch-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
    auto opened = Store::Open({"sqlite:" + (folder_ / "breakwatch.db").string(), false}, RealClock());
    if (!opened) throw std::runtime_error(opened.error().message);
    store_ = std::move(*opened);
    Sweep sweep;
    sweep.id = "bench";
    Must(store_->BeginSweep(sweep, Plan{}, {}, {}, {}));
  }
  ~ScratchStore() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  Store* operator->() { return store_.get(); }
  void Append(ModelResult result, std::vector<Event> events = {}, CurrentChange change = {}) {
    const std::array writes{ResultWrite{std::move(result), std::move(events), std::move(change)}};
    Must(store_->AppendResults(writes));
  }
  static void Must(const Result<void>& result) {
    if (!result) throw std::runtime_error(result.error().message);
  }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<Store> store_;
};

ModelResult ResultWithSites(std::size_t number, std::size_t sites) {
  ModelResult result;
  result.sweep_id = "bench";
  result.info.id = "org/model-" + std::to_string(number);
  result.info.sha = std::string(40, 'a');
  result.structure = "structure-" + std::to_string(number);
  result.capture_id = "capture-" + std::to_string(number);
  result.capture.status = Status::kGraphBreaks;
  result.capture.mode = "eval";
  result.capture.detail = "breaks";
  for (std::size_t i = 0; i < sites; ++i) {
    BreakSite site;
    site.site_id = "site-" + std::to_string(i);
    site.reason = "Data-dependent branching";
    site.gb_id = "GB0170";
    site.explanation = std::string(400, 'e');
    site.hints = {std::string(200, 'h')};
    site.file = "transformers/models/sample/modeling_sample.py";
    site.line = static_cast<int>(i);
    site.occurrences = 1;
    result.capture.sites.push_back(std::move(site));
  }
  return result;
}

std::vector<Event> EventsOf(const ModelResult& result) {
  Event event{"graph_break",
              Level::kInfo,
              "bench",
              result.info.id,
              result.info.sha,
              R"({"reason":"Data-dependent branching","file":"modeling_sample.py","line":17,"occurrences":1})"};
  return std::vector<Event>(result.capture.sites.size() + 1, event);
}

// A result with this number of sites, one event for each, and its row of `current`.
void AppendResults(benchmark::State& state) {
  ScratchStore store;
  std::size_t number = 0;
  for (auto _ : state) {
    const ModelResult result = ResultWithSites(number++, static_cast<std::size_t>(state.range(0)));
    TrackedModel row;
    row.model = result.info.id;
    CurrentChange change;
    change.upserts.push_back(std::move(row));
    store.Append(result, EventsOf(result), change);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(AppendResults)->Arg(0)->Arg(10)->Arg(100)->UseRealTime()->Unit(benchmark::kMicrosecond);

void AppendEvents(benchmark::State& state) {
  ScratchStore store;
  const std::vector<Event> events(static_cast<std::size_t>(state.range(0)), EventsOf(ResultWithSites(0, 0)).front());
  for (auto _ : state) ScratchStore::Must(store->AppendEvents(events));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(AppendEvents)->Arg(1)->Arg(1000)->UseRealTime()->Unit(benchmark::kMicrosecond);

// As in delivery when it catches up: a batch, then its cursor.
void DeliverEvents(benchmark::State& state) {
  ScratchStore store;
  const std::vector<Event> events(100'000, EventsOf(ResultWithSites(0, 0)).front());
  ScratchStore::Must(store->AppendEvents(events));
  std::int64_t cursor = 0, delivered = 0;
  for (auto _ : state) {
    const auto batch = store->EventsAfter(cursor, 1000, 1 << 20);
    if (!batch) throw std::runtime_error(batch.error().message);
    delivered += static_cast<std::int64_t>(batch->size());
    cursor = batch->empty() || batch->back().id >= 100'000 ? 0 : batch->back().id;
    ScratchStore::Must(store->SetCursor("loki", cursor));
  }
  state.SetItemsProcessed(delivered);
}
BENCHMARK(DeliverEvents)->UseRealTime()->Unit(benchmark::kMicrosecond);

// `store rebuild` without its fold.
void ReplayHistory(benchmark::State& state) {
  ScratchStore store;
  for (std::size_t i = 0; i < 1000; ++i) store.Append(ResultWithSites(i, 10));
  std::int64_t steps = 0;
  for (auto _ : state)
    ScratchStore::Must(
        store->ReplayHistory([&](const HistoryStep&) -> Result<void> { return ++steps, Result<void>{}; }));
  state.SetItemsProcessed(steps);
}
BENCHMARK(ReplayHistory)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace breakwatch::store

BENCHMARK_MAIN();
