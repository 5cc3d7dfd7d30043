// Snapshots for tests: small, complete, and with hostile labels.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/snapshot.h"

namespace breakwatch::fakes {

inline SystemTime At(std::int64_t unix_seconds) { return SystemTime{std::chrono::seconds{unix_seconds}}; }

inline const Toolchain& SampleToolchain() {
  static const Toolchain toolchain{"default", "2.15.0", "5.23.0", "3.11.2", "1", "cpu"};
  return toolchain;
}

inline TrackedModel MakeModel(std::string id, std::string commit, std::vector<ReasonCount> reasons, int rank = 1) {
  TrackedModel model;
  model.model = std::move(id);
  model.tracked = model.in_ranking = true;
  model.family = Family::kNlp;
  model.commit = model.status_commit = commit;
  model.rank = rank;
  model.downloads = 1000;
  model.status = reasons.empty() ? Status::kFullGraph : Status::kGraphBreaks;
  model.detail = "captured";
  model.attempted_at = At(1'763'690'000);
  Numbers numbers;
  numbers.commit = std::move(commit);
  numbers.capture_id = "c-" + model.model;
  numbers.captured_at = At(1'763'690'000);
  numbers.graphs = 1 + static_cast<std::int64_t>(reasons.size());
  numbers.explain_breaks = numbers.graphs - 1;
  numbers.ops_captured = 42;
  numbers.reasons = std::move(reasons);
  numbers.phase_s = {{"capture", 1.5}, {"create", 0.25}};
  model.numbers[SampleToolchain().Key()] = std::move(numbers);
  return model;
}

inline std::string Commit(char digit) { return std::string(40, digit); }

// Two models with numbers (one of them clean), one that failed, one that could not be resolved.
inline Snapshot SampleSnapshot() {
  Snapshot snapshot;
  snapshot.taken_at = At(1'763'690'100);
  snapshot.toolchain_key = SampleToolchain().Key();
  snapshot.toolchains = {SampleToolchain()};
  snapshot.models.push_back(MakeModel("org/breaking", Commit('a'),
                                      {{"Data-dependent branching", "GB0170", "user_error", 6, 4},
                                       {"Unsupported \"call\"", "GB0059", "supportable", 2, 1}},
                                      1));
  snapshot.models.push_back(MakeModel("org/clean", Commit('b'), {}, 2));
  TrackedModel failed = MakeModel("org/failed", Commit('c'), {}, 3);
  failed.numbers.clear();
  failed.status = Status::kFailedEager;
  failed.downloads.reset();
  snapshot.models.push_back(failed);
  TrackedModel unresolved = failed;
  unresolved.model = "org/unresolved";
  unresolved.commit.clear();
  unresolved.status_commit.clear();
  unresolved.status = Status::kFailedResolve;
  snapshot.models.push_back(unresolved);
  snapshot.reasons = {{"Data-dependent branching", "GB0170", "user_error", "https://example.org/GB0170", 1},
                      {"Unsupported \"call\"", "GB0059", "supportable", "", 0}};
  snapshot.sweep = {"20251121T020512Z-000001",
                    At(1'763'690'050),
                    std::chrono::milliseconds{12'500},
                    {{"full_graph", 1}, {"graph_breaks", 1}, {"failed_eager", 1}, {"failed_resolve", 1}},
                    0};
  snapshot.delivery = {{"loki", 5, 1, 3, 0, std::chrono::milliseconds{2'000}, At(1'763'690'060)},
                       {"pushgateway", 2, 0, 0, 0, std::chrono::milliseconds{0}, {}}};
  return snapshot;
}

}  // namespace breakwatch::fakes
