#include "breakwatch/core/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "breakwatch/core/text.h"
#include "fakes/exposition_reader.h"
#include "fakes/sample_snapshot.h"

namespace breakwatch {
namespace {

using fakes::Commit;
using fakes::ExpositionReader;
using fakes::MakeModel;
using fakes::SampleSnapshot;
using fakes::SeriesByName;
using fakes::SeriesLabels;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

SeriesLabels Model(const std::string& model, const std::string& commit) {
  return {{"family", "nlp"}, {"model", model}, {"commit", commit}};
}

SeriesLabels With(SeriesLabels labels, const SeriesLabels& more) {
  labels.insert(more.begin(), more.end());
  return labels;
}

SeriesByName Series(const Snapshot& snapshot) { return ExpositionReader::Read(Exposition(snapshot)); }

TEST(ExpositionTest, WritesFurtherToolchainsOnlyIfConfiguredAndTheNewestOfAName) {
  Snapshot snapshot = SampleSnapshot();
  Toolchain older = fakes::SampleToolchain(), newer = older;
  older.name = newer.name = "nightly";
  older.torch = "2.16.0";
  newer.torch = "2.17.0";
  snapshot.toolchains = {older, newer, fakes::SampleToolchain()};
  TrackedModel& model = snapshot.models.Own(0);
  Numbers numbers = model.numbers.begin()->second;
  model.numbers[older.Key()] = numbers;
  numbers.reasons = {{"Graph break under GenericContextWrappingVariable", "GB0066", "difficult", 3, 1}};
  model.numbers[newer.Key()] = numbers;
  model.attempts[older.Key()] = {Status::kFullGraph, Commit('a')};
  model.attempts[newer.Key()] = {Status::kGraphBreaks, Commit('a')};
  EXPECT_EQ(Series(snapshot).count("breakwatch_breaks"), 0u);

  snapshot.extra = {"nightly", "unheard-of", "nightly"};
  SeriesByName series = Series(snapshot);
  const SeriesLabels labels = With(Model("org/breaking", Commit('a')), {{"toolchain", "nightly"}, {"mode", "eval"}});
  EXPECT_THAT(
      series["breakwatch_breaks"],
      ElementsAre(Pair(
          With(labels, {{"reason", "Graph break under GenericContextWrappingVariable"}, {"gb_id", "GB0066"}}), 3)));
  EXPECT_THAT(series["breakwatch_mode_status"], ElementsAre(Pair(With(labels, {{"status", "graph_breaks"}}), 1)));
}

TEST(ExpositionTest, OmitsTheMetricsThatAreNotWanted) {
  Snapshot snapshot = SampleSnapshot();
  const std::string all = Exposition(snapshot);
  snapshot.metrics.drop = {"compile_ops_captured", "breakwatch_model_rank", "compile_break_sites"};
  const std::string text = Exposition(snapshot);
  for (const std::string& name : snapshot.metrics.drop) {
    EXPECT_THAT(all, HasSubstr("\n" + name + "{")) << name;
    EXPECT_THAT(text, Not(HasSubstr(name))) << name << " has no header either";
  }
  SeriesByName others = ExpositionReader::Read(all);
  for (const std::string& name : snapshot.metrics.drop) others.erase(name);
  EXPECT_EQ(ExpositionReader::Read(text), others);
}

TEST(ExpositionTest, OmitsDurationsByPhaseIfTheyAreSwitchedOff) {
  Snapshot snapshot = SampleSnapshot();
  SeriesByName others = Series(snapshot);
  ASSERT_EQ(others.erase("breakwatch_model_capture_duration_seconds"), 1u);
  snapshot.metrics.phases = false;
  EXPECT_EQ(Series(snapshot), others);
}

TEST(ExpositionTest, WritesAFurtherModesNumbersAndHowItsLastAttemptEnded) {
  Snapshot snapshot = SampleSnapshot();
  TrackedModel& model = snapshot.models.Own(0);
  const std::string key = fakes::SampleToolchain().Key();
  const SeriesByName before = Series(snapshot);
  model.numbers[NumbersKey(key, "train")] = model.numbers[key];
  model.numbers[NumbersKey(key, "train")].reasons.clear();
  model.attempts[NumbersKey(key, "train")] = {Status::kTimeout, Commit('a')};
  model.attempts[NumbersKey(key, "export")] = {Status::kFailedCapture, Commit('a')};

  const std::string name = fakes::SampleToolchain().name;
  snapshot.extra = {name + "/train", name + "/export", name + "/dynamic"};
  SeriesByName series = Series(snapshot);
  const auto in = [&](const std::string& mode) {
    return With(Model("org/breaking", Commit('a')), {{"toolchain", name}, {"mode", mode}});
  };
  EXPECT_THAT(series["breakwatch_breaks"],
              ElementsAre(Pair(With(in("train"), {{"reason", "none"}, {"gb_id", ""}}), 0)));
  EXPECT_THAT(series["breakwatch_mode_status"],
              testing::UnorderedElementsAre(Pair(With(in("train"), {{"status", "timeout"}}), 1),
                                            Pair(With(in("export"), {{"status", "failed_capture"}}), 1)));
  EXPECT_EQ(series["compile_breaks_total"], before.at("compile_breaks_total"));
}

TEST(ExpositionTest, WritesTheNewestMeasurementsOfThePublishedToolchain) {
  Snapshot snapshot = SampleSnapshot();
  TrackedModel& model = snapshot.models.Own(0);
  const std::string key = fakes::SampleToolchain().Key();
  const SeriesLabels labels = Model("org/breaking", Commit('a'));
  model.measured[NumbersKey(key, "profile")] = {
      Commit('a'), "c1", fakes::At(1), {{"inductor", {{"0.5", 0.25}}, 1.5}}, 0.75};
  model.measured["another toolchain/bench"] = {Commit('a'), "c2", fakes::At(9), {{"eager", {{"0.5", 9}}, {}}}, {}};
  SeriesByName series = Series(snapshot);
  EXPECT_THAT(series["breakwatch_latency_seconds"],
              ElementsAre(Pair(With(labels, {{"backend", "inductor"}, {"quantile", "0.5"}}), 0.25)));
  EXPECT_THAT(series["breakwatch_compile_seconds"], ElementsAre(Pair(With(labels, {{"backend", "inductor"}}), 1.5)));
  EXPECT_THAT(series["breakwatch_profile_share"],
              testing::UnorderedElementsAre(Pair(With(labels, {{"segment", "graphs"}}), 0.75),
                                            Pair(With(labels, {{"segment", "breaks"}}), 0.25)));

  model.measured[NumbersKey(key, "bench")] = {Commit('a'), "c3", fakes::At(2), {{"eager", {{"0.5", 0.5}}, {}}}, {}};
  series = Series(snapshot);
  EXPECT_THAT(series["breakwatch_latency_seconds"],
              ElementsAre(Pair(With(labels, {{"backend", "eager"}, {"quantile", "0.5"}}), 0.5)));
  EXPECT_EQ(series["breakwatch_profile_share"].size(), 2u) << "a benchmark has no segments";
}

TEST(ExpositionTest, CountsModelsByFixAndReasonsByWhatRemovedThem) {
  Snapshot snapshot = SampleSnapshot();
  EXPECT_EQ(Series(snapshot).count("breakwatch_fix_models"), 0u);
  for (std::size_t i = 0; i < 2; ++i) {
    FixEffects effects;
    effects.outcomes = {{"scalars", i == 0 ? "whole" : "same"}};
    effects.reasons = {{"branch", "GB1", "setting", {"scalars"}}, {"print", "", "source change", {}}};
    snapshot.models.Own(i).fixes[snapshot.toolchain_key] = effects;
  }
  auto series = Series(snapshot);
  EXPECT_THAT(series["breakwatch_fix_models"],
              testing::UnorderedElementsAre(Pair(SeriesLabels{{"fix", "scalars"}, {"outcome", "whole"}}, 1),
                                            Pair(SeriesLabels{{"fix", "scalars"}, {"outcome", "same"}}, 1)));
  EXPECT_THAT(series["breakwatch_reason_fixed_by"],
              ElementsAre(Pair(SeriesLabels{{"reason", "branch"}, {"gb_id", "GB1"}, {"fix", "scalars"}}, 2)));
}

TEST(ExpositionTest, CountsArtifactsByTargetAndState) {
  Snapshot snapshot = SampleSnapshot();
  EXPECT_EQ(Series(snapshot).count("breakwatch_artifact_status"), 0u);
  snapshot.artifacts = {{{"aot_inductor", "published"}, 3}, {{"onnx", "wrong_result"}, 1}};
  EXPECT_THAT(Series(snapshot)["breakwatch_artifact_status"],
              testing::UnorderedElementsAre(Pair(SeriesLabels{{"target", "aot_inductor"}, {"status", "published"}}, 3),
                                            Pair(SeriesLabels{{"target", "onnx"}, {"status", "wrong_result"}}, 1)));
}

// A first call is published only with the steady state, and a call variant only with the default call.
TEST(ExpositionTest, WritesTheSteadyStateBesideTheFirstCallAndTheDefaultCallBesideAVariant) {
  const std::string name = fakes::SampleToolchain().name, key = fakes::SampleToolchain().Key();
  for (const std::string mode : {"cold", "eval+minimal"}) {
    Snapshot snapshot = SampleSnapshot();
    TrackedModel& model = snapshot.models.Own(0);
    model.numbers[NumbersKey(key, mode)] = model.numbers[key];
    model.numbers[NumbersKey(key, mode)].reasons.clear();
    model.attempts[key] = {Status::kGraphBreaks, Commit('a')};
    model.attempts[NumbersKey(key, mode)] = {Status::kFullGraph, Commit('a')};
    snapshot.extra = {name + "/" + mode};
    SeriesByName series = Series(snapshot);
    const auto in = [&](const std::string& of) {
      return With(Model("org/breaking", Commit('a')), {{"toolchain", name}, {"mode", of}});
    };
    EXPECT_THAT(series["breakwatch_mode_status"],
                testing::IsSupersetOf({Pair(With(in("eval"), {{"status", "graph_breaks"}}), 1),
                                       Pair(With(in(mode), {{"status", "full_graph"}}), 1)}));
    EXPECT_EQ(series["breakwatch_breaks"].at(With(in(mode), {{"reason", "none"}, {"gb_id", ""}})), 0);
    EXPECT_EQ(
        series["breakwatch_breaks"].at(With(in("eval"), {{"reason", "Data-dependent branching"}, {"gb_id", "GB0170"}})),
        6);
  }
}

TEST(ExpositionTest, WritesBreaksByReasonAndAZeroForACleanModel) {
  SeriesByName series = Series(SampleSnapshot());
  EXPECT_THAT(
      series["compile_breaks_total"],
      testing::UnorderedElementsAre(
          Pair(With(Model("org/breaking", Commit('a')), {{"reason", "Data-dependent branching"}, {"gb_id", "GB0170"}}),
               6),
          Pair(With(Model("org/breaking", Commit('a')), {{"reason", "Unsupported \"call\""}, {"gb_id", "GB0059"}}), 2),
          Pair(With(Model("org/clean", Commit('b')), {{"reason", "none"}, {"gb_id", ""}}), 0)));
  EXPECT_THAT(series["compile_graphs"],
              ElementsAre(Pair(Model("org/breaking", Commit('a')), 3), Pair(Model("org/clean", Commit('b')), 1)));
}

TEST(ExpositionTest, WritesOnlyTheStatusOfAModelThatCouldNotBeResolved) {
  const SeriesByName all = Series(SampleSnapshot());
  for (const auto& [name, series] : all) {
    for (const auto& [labels, value] : series) {
      const auto model = labels.find("model");
      if (model == labels.end() || model->second != "org/unresolved") continue;
      EXPECT_EQ(name, "breakwatch_model_status");
      EXPECT_EQ(labels.at("commit"), "");
      EXPECT_EQ(labels.at("status"), "failed_resolve");
    }
  }
}

TEST(ExpositionTest, LeavesOutWhatIsNotKnown) {
  Snapshot snapshot;
  const std::string text = Exposition(snapshot);
  EXPECT_THAT(text, Not(HasSubstr("breakwatch_sweep_last_success_timestamp_seconds")));
  EXPECT_THAT(text, Not(HasSubstr("compile_breaks_total")));
  EXPECT_THAT(text, HasSubstr("breakwatch_build_info"));
  EXPECT_THAT(text, Not(HasSubstr("breakwatch_sandbox_info")));
  snapshot.sandbox = "landlock";
  EXPECT_THAT(Exposition(snapshot), HasSubstr("breakwatch_sandbox_info{sandbox=\"landlock\"} 1\n"));
  SeriesByName series = Series(SampleSnapshot());
  EXPECT_EQ(series["breakwatch_model_downloads"].size(), 2u);
  EXPECT_EQ(series["breakwatch_export_last_success_timestamp_seconds"].size(), 1u);
  EXPECT_EQ(series["breakwatch_sweep_models"].at({{"status", "timeout"}}), 0);
}

TEST(ExpositionTest, WritesTimesOfSweepsAndDeliveryOnlyOnceThereAreAny) {
  const Snapshot nothing;
  for (const char* name : {"last_failure", "interval", "next_due", "oldest_timestamp"})
    EXPECT_THAT(Exposition(nothing), Not(HasSubstr(name)));
  Snapshot snapshot = SampleSnapshot();
  snapshot.sweep.last_failure = fakes::At(1'763'690'001);
  snapshot.sweep.interval = std::chrono::hours(24);
  snapshot.sweep.next_due = fakes::At(1'763'776'400);
  snapshot.delivery[0].last_failure = fakes::At(1'763'690'002);
  snapshot.delivery[0].oldest_at = fakes::At(1'763'690'003);
  SeriesByName series = Series(snapshot);
  const SeriesLabels none, loki = {{"exporter", "loki"}};
  EXPECT_THAT(series["breakwatch_sweep_last_failure_timestamp_seconds"], ElementsAre(Pair(none, 1'763'690'001)));
  EXPECT_THAT(series["breakwatch_sweep_interval_seconds"], ElementsAre(Pair(none, 86'400)));
  EXPECT_THAT(series["breakwatch_sweep_next_due_timestamp_seconds"], ElementsAre(Pair(none, 1'763'776'400)));
  EXPECT_THAT(series["breakwatch_export_last_failure_timestamp_seconds"], ElementsAre(Pair(loki, 1'763'690'002)));
  EXPECT_THAT(series["breakwatch_events_oldest_timestamp_seconds"], ElementsAre(Pair(loki, 1'763'690'003)));
}

TEST(ExpositionTest, CountsTheWorkersOfEachToolchain) {
  Snapshot snapshot;
  snapshot.workers = {{"default", {6, 1, 2, 3, 4}}, {"nightly", {}}};
  SeriesByName series = Series(snapshot);
  const SeriesLabels main = {{"toolchain", "default"}}, further = {{"toolchain", "nightly"}};
  EXPECT_THAT(series["breakwatch_workers_started_total"], ElementsAre(Pair(main, 6), Pair(further, 0)));
  EXPECT_EQ(series["breakwatch_workers_failed_starts_total"].at(main), 1);
  EXPECT_EQ(series["breakwatch_workers_lost_total"].at(main), 2);
  EXPECT_EQ(series["breakwatch_workers_retried_captures_total"].at(main), 3);
  EXPECT_EQ(series["breakwatch_workers_ignored_results_total"].at(main), 4);
}

TEST(ExpositionTest, AddsReasonsThatAreEqualOnceCut) {
  const std::string longest(200, 'x');
  Snapshot snapshot;
  snapshot.toolchain_key = fakes::SampleToolchain().Key();
  snapshot.models = {MakeModel("m", Commit('a'), {{longest + "1", "", "", 2, 1}, {longest + "2", "", "", 3, 1}})};
  snapshot.reasons = {{longest + "1", "", "", "", 1}, {longest + "2", "", "", "", 1}};
  SeriesByName series = Series(snapshot);  // throws on a series that comes twice
  const SeriesLabels labels = With(Model("m", Commit('a')), {{"reason", std::string(120, 'x')}, {"gb_id", ""}});
  EXPECT_THAT(series["compile_breaks_total"], ElementsAre(Pair(labels, 5)));
}

TEST(ExpositionTest, AssignsEveryModelToExactlyOneShard) {
  Snapshot snapshot = SampleSnapshot();
  for (int i = 0; i < 50; ++i) snapshot.models.push_back(MakeModel("org/m" + std::to_string(i), Commit('d'), {}));
  SeriesByName together;
  std::size_t count = 0;
  for (std::size_t index = 0; index < 3; ++index) {
    std::string text;
    WriteExposition(snapshot, {index, 3}, [&](std::string_view chunk) { text.append(chunk); });
    for (const auto& [name, series] : ExpositionReader::Read(text)) {
      count += series.size();
      together[name].insert(series.begin(), series.end());
    }
  }
  const SeriesByName whole = Series(snapshot);
  EXPECT_EQ(together, whole);
  std::size_t whole_count = 0;
  for (const auto& [name, series] : whole) whole_count += series.size();
  EXPECT_EQ(count, whole_count);
}

TEST(ExpositionTest, HandsOutChunksOfAtLeast64KibibytesButTheLast) {
  Snapshot snapshot = SampleSnapshot();
  for (int i = 0; i < 1000; ++i) snapshot.models.push_back(MakeModel("org/m" + std::to_string(i), Commit('d'), {}));
  std::vector<std::size_t> sizes;
  WriteExposition(snapshot, {}, [&](std::string_view chunk) { sizes.push_back(chunk.size()); });
  ASSERT_GT(sizes.size(), 2u);
  sizes.pop_back();
  for (const std::size_t size : sizes) EXPECT_GE(size, 64u * 1024);
}

// Arbitrary bytes as labels: they come back as the same UTF-8 text, bounded.
TEST(ExpositionTest, BringsHostileLabelsBackUnchanged) {
  const std::vector<std::string> pieces = {"\"",
                                           "\\",
                                           "\n",
                                           "\\n",
                                           "{",
                                           "}",
                                           ",",
                                           "=",
                                           " ",
                                           "#",
                                           "\r",
                                           "\t",
                                           std::string(1, '\0'),
                                           "é",
                                           "漢",
                                           "😀",
                                           "\xff",
                                           "\xc3",
                                           "\xed\xa0\x80",
                                           "a",
                                           "# HELP x"};
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const auto hostile = [&] {
      std::string text;
      for (auto i = random() % 60; i > 0; --i) text += pieces[random() % pieces.size()];
      return text;
    };
    Snapshot snapshot;
    snapshot.toolchain_key = fakes::SampleToolchain().Key();
    const std::string model = hostile(), commit = "c" + hostile(), reason = hostile(), gb_id = hostile();
    snapshot.models = {MakeModel(model, commit, {{reason, gb_id, "", 3, 1}})};
    const SeriesLabels labels = {{"family", "nlp"},
                                 {"model", Truncate(ToUtf8(model), 200)},
                                 {"commit", Truncate(ToUtf8(commit), 200)},
                                 {"reason", Truncate(ToUtf8(reason), 120)},
                                 {"gb_id", Truncate(ToUtf8(gb_id), 200)}};
    SeriesByName series = Series(snapshot);
    ASSERT_THAT(series["compile_breaks_total"], ElementsAre(Pair(labels, 3))) << "round " << round;
  }
}

// The reference: prometheus-cpp's own values and serializer, filled from the snapshot by other code.
prometheus::ClientMetric Metric(std::vector<std::pair<std::string, std::string>> labels, double value, bool counter) {
  prometheus::ClientMetric metric;
  for (auto& [name, text] : labels) metric.label.push_back({name, text});
  (counter ? metric.counter.value : metric.gauge.value) = value;
  return metric;
}

std::string HelpOf(const std::string& text, const std::string& name) {
  const std::string head = "# HELP " + name + " ";
  const auto at = text.find(head) + head.size();
  return text.substr(at, text.find('\n', at) - at);
}

TEST(ExpositionTest, EqualsTheReferenceSerializerByteForByte) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.models.Own(0).model = "org/br\\ea\"k\nïng";
  const std::string text = Exposition(snapshot);
  prometheus::MetricFamily breaks{
      "compile_breaks_total", HelpOf(text, "compile_breaks_total"), prometheus::MetricType::Counter, {}};
  prometheus::MetricFamily when{"breakwatch_model_last_capture_timestamp_seconds",
                                HelpOf(text, "breakwatch_model_last_capture_timestamp_seconds"),
                                prometheus::MetricType::Gauge,
                                {}};
  prometheus::MetricFamily phases{"breakwatch_model_capture_duration_seconds",
                                  HelpOf(text, "breakwatch_model_capture_duration_seconds"),
                                  prometheus::MetricType::Gauge,
                                  {}};
  for (const TrackedModel& model : snapshot.models) {
    const Numbers* numbers = snapshot.NumbersOf(model);
    if (numbers == nullptr) continue;
    std::vector<std::pair<std::string, std::string>> labels = {
        {"family", "nlp"}, {"model", model.model}, {"commit", numbers->commit}};
    const auto add = [&](prometheus::MetricFamily& family, std::vector<std::pair<std::string, std::string>> more,
                         double value) {
      more.insert(more.begin(), labels.begin(), labels.end());
      family.metric.push_back(Metric(more, value, family.type == prometheus::MetricType::Counter));
    };
    if (numbers->reasons.empty()) add(breaks, {{"reason", "none"}, {"gb_id", ""}}, 0);
    for (const ReasonCount& count : numbers->reasons) {
      add(breaks, {{"reason", count.reason}, {"gb_id", count.gb_id}}, static_cast<double>(count.events));
    }
    add(when, {}, std::chrono::duration<double>(numbers->captured_at.time_since_epoch()).count());
    for (const auto& [phase, seconds] : numbers->phase_s) add(phases, {{"phase", phase}}, seconds);
  }
  for (const auto& family : {breaks, when, phases}) {
    EXPECT_THAT(text, HasSubstr(prometheus::TextSerializer().Serialize({family})));
  }
}

// Exit codes of promtool: 0 no problem, 3 style warnings (about names of the contract), 1 invalid input.
TEST(ExpositionTest, SatisfiesPromtool) {
  if (std::system("command -v promtool >/dev/null 2>&1") != 0) GTEST_SKIP() << "promtool is not installed";
  Snapshot snapshot = SampleSnapshot();
  snapshot.models.Own(1).model = "quote\" back\\slash new\nline 漢";
  FILE* promtool = popen("promtool check metrics >/dev/null 2>&1", "w");
  ASSERT_NE(promtool, nullptr);
  const std::string text = Exposition(snapshot);
  fwrite(text.data(), 1, text.size(), promtool);
  const int status = WEXITSTATUS(pclose(promtool));
  EXPECT_TRUE(status == 0 || status == 3) << "promtool exited with " << status;
}

}  // namespace
}  // namespace breakwatch
