// Prints the exposition of a test fleet, "before" or "after" a sweep that changed it: a new commit, a fixed model, a
// new reason, a new toolchain, models that left, that started to fail, that are new. The queries of the dashboards are
// run on it.
#include <cstdio>
#include <cstring>
#include <utility>

#include "breakwatch/core/exposition.h"
#include "fakes/sample_snapshot.h"

namespace breakwatch {
namespace {

using fakes::At;
using fakes::Commit;
using fakes::MakeModel;

const ReasonCount kBranching{"Data-dependent branching", "GB0170", "user_error", 6, 4};
const ReasonCount kBuiltin{"Unsupported \"call\" with a \\ and\na second line", "GB0059", "supportable", 2, 1};
const ReasonCount kUncoded{"a reason without an id", "", "other", 1, 1};

TrackedModel Of(Family family, TrackedModel model) {
  model.family = family;
  return model;
}

TrackedModel Failed(TrackedModel model, Status status) {
  model.numbers.clear();
  model.status = status;
  return model;
}

TrackedModel Measured(TrackedModel model, double seconds) {
  model.measured[NumbersKey(fakes::SampleToolchain().Key(), "profile")] = {
      model.commit, "c", At(1'763'680'000), {{"inductor", {{"0.5", seconds}, {"0.95", 2 * seconds}}, 1.5}}, 0.75};
  return model;
}

const Toolchain& OldToolchain() {
  static const Toolchain toolchain{"old", "2.13.0", "5.8.0", "3.11.2", "1", "cpu"};
  return toolchain;
}

// The same numbers in another mode, and one reason more by another toolchain.
TrackedModel InOtherModes(TrackedModel model, bool by_old_toolchain) {
  const auto found = model.numbers.find(fakes::SampleToolchain().Key());
  if (found == model.numbers.end()) return model;
  Numbers numbers = found->second;
  const std::string train = NumbersKey(fakes::SampleToolchain().Key(), "train");
  model.numbers[train] = numbers;
  model.attempts[train] = {model.status, model.commit};
  if (!by_old_toolchain) return model;
  numbers.reasons = {kBranching, kBuiltin};
  const std::string old = NumbersKey(OldToolchain().Key(), "eval");
  model.numbers[old] = std::move(numbers);
  model.attempts[old] = {Status::kGraphBreaks, model.commit};
  return model;
}

std::vector<TrackedModel> Fleet(bool after) {
  std::vector<TrackedModel> models;
  models.push_back(
      Of(Family::kAudio, MakeModel("org/audio-new-reason", Commit('a'),
                                   after ? std::vector{kBranching, kUncoded} : std::vector{kBranching}, 1)));
  models.push_back(
      Of(Family::kMultimodal, Failed(MakeModel("org/multimodal-failing", Commit('b'), {}, 2), Status::kFailedEager)));
  models.push_back(MakeModel("org/nlp-clean", Commit('c'), {}, 3));
  models.push_back(
      MakeModel("org/nlp-fixed", Commit('d'), after ? std::vector<ReasonCount>{} : std::vector{kBuiltin}, 4));
  models.push_back(MakeModel("org/nlp-new-commit", Commit(after ? 'f' : 'e'),
                             after ? std::vector{kBranching, kBuiltin} : std::vector{kBuiltin}, 5));
  if (!after) models.push_back(MakeModel("org/nlp-left", Commit('3'), {kBuiltin}, 7));
  if (after) models.push_back(MakeModel("org/nlp-new-and-broken", Commit('4'), {kBranching}, 7));
  models.push_back(Of(Family::kOther, MakeModel("org/other-started-to-fail", Commit('5'), {}, 8)));
  if (after) models.back().status = Status::kFailedEager;  // its numbers stay
  models.push_back(
      Measured(Of(Family::kVision, MakeModel("org/vision-breaking", Commit('1'), {kBranching, kBuiltin}, 6)), 0.004));
  models.push_back(Of(Family::kVision, MakeModel("org/vision-gone", Commit('2'), {}, 0)));
  models.back().in_ranking = false;
  models.push_back(Of(Family::kVision, Failed(MakeModel("org/vision-unresolved", "", {}, 0), Status::kFailedResolve)));
  // Not an id of the Hub, and hostile to URLs.
  models.push_back(
      Of(Family::kUnknown, MakeModel("python:own:net & \"x/../y\"?a=b#c%2F<\n>\u00fc", Commit('6'), {kBranching}, 0)));
  for (TrackedModel& model : models) model = InOtherModes(std::move(model), after);
  return models;
}

Snapshot Sample(bool after) {
  const std::int64_t end = after ? 1'763'690'000 : 1'763'686'400;
  Snapshot snapshot;
  snapshot.taken_at = At(end);
  snapshot.toolchain_key = fakes::SampleToolchain().Key();
  if (after) snapshot.toolchains.push_back(OldToolchain());
  snapshot.toolchains.push_back(fakes::SampleToolchain());
  snapshot.extra = {"old", "default/train"};
  snapshot.sandbox = "bubblewrap";
  for (TrackedModel& model : Fleet(after)) snapshot.models.push_back(std::move(model));
  FixEffects& effects = snapshot.models.Own(0).fixes[snapshot.toolchain_key];
  effects.best = "capture_scalar_outputs", effects.outcome = "whole";
  effects.outcomes = {{"capture_scalar_outputs", "whole"}, {"nested_graph_breaks", "better"}};
  effects.reasons = {{kBranching.reason, kBranching.gb_id, "setting", {"capture_scalar_outputs"}}};
  snapshot.reasons = {{kBranching.reason, kBranching.gb_id, "setting", "https://example.org/GB0170", 1},
                      {kBuiltin.reason, kBuiltin.gb_id, "untested", "https://example.org/GB0059", 0}};
  if (after) snapshot.reasons.push_back({kUncoded.reason, "", "untested", "", 0});
  snapshot.sweep.sweep_id = after ? "second" : "first";
  snapshot.sweep.last_success = At(end);
  snapshot.sweep.duration = std::chrono::milliseconds{after ? 61'000 : 75'500};
  for (const TrackedModel& model : snapshot.models) ++snapshot.sweep.models[std::string(StatusName(model.status))];
  snapshot.sweep.last_failure = At(end - 7'200);
  snapshot.sweep.interval = std::chrono::hours(24);
  snapshot.sweep.next_due = At(end + 80'000);
  snapshot.delivery = {{"loki", after ? 20 : 10, after ? 3 : 1, 12, 1, std::chrono::milliseconds{2'500}, At(end), false,
                        At(end - 2), At(end - 60)},
                       {"pushgateway", after ? 40 : 20, 0, 0, 0, std::chrono::milliseconds{0}, At(end)}};
  snapshot.workers["default"] = {after ? 4 : 2, 0, after ? 1 : 0, after ? 1 : 0, 0};
  return snapshot;
}

}  // namespace
}  // namespace breakwatch

int main(int argc, char** argv) {
  if (argc != 2 || (std::strcmp(argv[1], "before") != 0 && std::strcmp(argv[1], "after") != 0)) {
    std::fputs("usage: exposition_sample before|after\n", stderr);
    return 64;
  }
  const bool after = std::strcmp(argv[1], "after") == 0;
  breakwatch::WriteExposition(breakwatch::Sample(after), {},
                              [](std::string_view chunk) { std::fwrite(chunk.data(), 1, chunk.size(), stdout); });
  return 0;
}
