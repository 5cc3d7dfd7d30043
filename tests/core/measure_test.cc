#include "breakwatch/core/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <utility>

#include "breakwatch/core/measured_times.h"

namespace breakwatch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kProfile = R"({
  "measure": {"backends": ["eager", "inductor"], "batches": [1], "seq": 0, "dynamic": false, "threads": 2,
              "device": "cpu", "full": false, "min_runs": 30, "min_s": 5.0, "dtype": "float32", "size": "reduced"},
  "noise": {"median_s": 0.001, "spread": 0.02, "after_spread": 0.03, "quiet": true},
  "profiles": [{
    "batch": 1, "seq": 16, "dynamic": false, "inputs": {"input_ids": {"shape": [1, 16], "dtype": "int64"}},
    "discarded_runs": 2, "recompiles": 0,
    "segments": [
      {"index": 0, "kind": "graph", "graph": 1, "calls": 1, "compile_id": "0/0", "file": "a.py", "line": 5,
       "function": "forward", "ops": 12, "ended_by": "site-1",
       "cells": {"eager": {"status": "ok", "detail": "", "runs": 30, "failures": 0, "mean_s": 0.002, "median_s": 0.002,
                           "low_s": 0.0019, "high_s": 0.0021, "p95_s": 0.003, "share": 0.5},
                 "inductor": {"status": "failed", "detail": "no compiler", "runs": 0, "failures": 1}}},
      {"index": 1, "kind": "python", "calls": 1, "ended_by": "site-1", "cells": {}}],
    "totals": {"eager": {"status": "ok", "median_s": 0.004, "graphs_s": 0.003, "python_s": 0.001, "throughput": 250}},
    "whole": {"available": false, "how": "", "why_not": "fullgraph fails", "cells": {}},
    "break_costs": [{"site_id": "site-1", "reason": "Data-dependent branching", "gb_id": "GB0170", "occurrences": 2,
                     "between_s": 0.0005, "fusion_s": null, "shared_with": 0, "why_not": "no whole graph"}]}]})";

TEST(MeasureTest, EqualOptionsGiveEqualBytes) {
  MeasureOptions options;
  options.backends = {"eager"};
  EXPECT_EQ(MeasureJson(options),
            R"({"backends":["eager"],"batches":[1],"device":"cpu","dynamic":false,"full":false,"min_runs":30,)"
            R"("min_s":5.0,"seq":0,"threads":1})");
  options.dtype = "bfloat16";
  const auto read = MeasureOptionsFromJson(ToJson(options));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, options);
}

TEST(MeasureTest, RefusesWhatCannotBeMeasured) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"backends":[]})", "eager, inductor, aot_inductor, onnxruntime or torchscript"},
      {R"({"backends":["eager","eager"]})", "each once"},
      {R"({"backends":["tensorrt"]})", "backends"},
      {R"({"batches":[0]})", "from 1 to 65536"},
      {R"({"batches":[]})", "batches"},
      {R"({"threads":0})", "threads"},
      {R"({"seq":-1})", "seq"},
      {R"({"device":"tpu"})", "cpu or cuda"},
      {R"({"min_s":1e9})", "min_s"},
      {R"({"min_runs":0})", "min_runs"},
      {R"({"dtype":"int8"})", "float32, bfloat16 or float16"},
      {R"({"full":1})", "true or false"},
      {R"({"repeats":3})", "unknown field \"repeats\""},
      {"[]", "an object"},
      {"{", ""},
  };
  for (const auto& [text, message] : wrong) {
    const auto read = MeasureOptionsFromJson(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::kUsage) << text;
    EXPECT_THAT(read.error().message, HasSubstr(message)) << text;
  }
}

TEST(MeasureTest, ReadsWhatAWorkerMeasured) {
  const auto measured = ReadMeasured(kProfile);
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->options.threads, 2);
  EXPECT_EQ(measured->options.dtype, "float32");
  EXPECT_FALSE(measured->published);
  ASSERT_EQ(measured->profiles.size(), 1u);
  const MeasuredProfile& profile = measured->profiles.front();
  EXPECT_EQ(profile.discarded_runs, 2);
  ASSERT_EQ(profile.segments.size(), 2u);
  const MeasuredSegment& graph = profile.segments.front();
  EXPECT_TRUE(graph.is_graph);
  EXPECT_EQ(graph.ops, 12);
  EXPECT_EQ(graph.cells.at("eager").median_s, 0.002);
  EXPECT_EQ(graph.cells.at("inductor").detail, "no compiler");
  EXPECT_FALSE(graph.cells.at("inductor").median_s);
  EXPECT_FALSE(profile.segments.back().is_graph);
  EXPECT_EQ(profile.totals.at("eager").python_s, 0.001);
  EXPECT_EQ(profile.whole.why_not, "fullgraph fails");
  ASSERT_EQ(profile.break_costs.size(), 1u);
  EXPECT_EQ(profile.break_costs.front().between_s, 0.0005);
  EXPECT_FALSE(profile.break_costs.front().fusion_s);
}

// A worker runs code that nobody has read.
TEST(MeasureTest, ReadsNothingThatCannotBeShown) {
  for (const char* text : {"", "[]", "{}", R"({"profiles":{}})", R"({"profiles":[],"measure":{"threads":"two"}})"}) {
    EXPECT_FALSE(ReadMeasured(text)) << text;
  }
  const auto measured = ReadMeasured(
      R"({"profiles":[1, {"totals":{"eager":{"status":7,"median_s":-1,"low_s":"x","runs":1e300}},"segments":[{}]}]})");
  ASSERT_TRUE(measured) << measured.error().message;
  ASSERT_EQ(measured->profiles.size(), 1u);
  const MeasuredCell& cell = measured->profiles.front().totals.at("eager");
  EXPECT_EQ(cell.status, "");
  EXPECT_EQ(cell.runs, 0);
  EXPECT_FALSE(cell.median_s);
  EXPECT_FALSE(cell.low_s);
}

MeasuredCell Cell(double low, double median, double high) {
  MeasuredCell cell;
  cell.status = "ok";
  cell.low_s = low, cell.median_s = median, cell.high_s = high;
  return cell;
}

TEST(MachineTest, IsNamedByItsCpuCoresAndMemory) {
  const std::string cpus = "processor\t: 0\nmodel name\t: AMD EPYC 7B13\nflags\t\t: avx2\n\nprocessor\t: 1\n";
  EXPECT_EQ(MachineName(cpus, "MemFree: 5 kB\nMemTotal:       24606720 kB\n", 2), "AMD EPYC 7B13, 2 cores, 23 GiB");
  EXPECT_EQ(MachineName(cpus, "MemTotal:       24506000 kB\n", 2), MachineName(cpus, "MemTotal: 24606720 kB\n", 2))
      << "another kernel";
  EXPECT_NE(MachineName(cpus, "", 2), MachineName(cpus, "", 4));
  EXPECT_EQ(MachineName("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "MemTotal: 1048576 kB\n", 1),
            "CPU implementer 0x41 part 0xd0c, 1 core, 1 GiB");
  EXPECT_EQ(MachineName("", "", 1), "unknown CPU, 1 core, 0 GiB");
  EXPECT_FALSE(MachineName().empty());
}

TEST(MachineTest, IsPartOfAMeasurement) {
  const std::string named = WithMachine(kProfile, "EPYC, 2 cores, 23 GiB");
  EXPECT_EQ(ReadMeasured(named)->machine, "EPYC, 2 cores, 23 GiB");
  EXPECT_EQ(ReadMeasured(WithMachine(named, "another"))->machine, "another") << "a worker does not choose it";
  EXPECT_EQ(ReadMeasured(kProfile)->machine, "");
  EXPECT_EQ(ReadMeasured(TimesJson(*ReadMeasured(named)))->machine, "EPYC, 2 cores, 23 GiB") << "in a baseline";
  for (const char* other : {"", "[1]", "{"}) EXPECT_EQ(WithMachine(other, "EPYC"), other);
}

TEST(LatencyTest, ADifferenceWithinItsIntervalIsNone) {
  const auto close = CompareLatency(Cell(0.9, 1.0, 1.1), Cell(0.95, 1.05, 1.15));
  ASSERT_TRUE(close);
  EXPECT_FALSE(close->significant);
  EXPECT_GT(close->p_value, 0.05);
  const auto apart = CompareLatency(Cell(0.9, 1.0, 1.1), Cell(1.9, 2.0, 2.1));
  ASSERT_TRUE(apart);
  EXPECT_TRUE(apart->significant);
  EXPECT_LT(apart->p_value, 0.001);
  EXPECT_DOUBLE_EQ(apart->ratio, 2.0);
}

TEST(LatencyTest, TheHypotenuseOfBothIntervalsIsTheLimit) {
  // Half widths of 0.3 and 0.4 make an interval of 0.5 for the difference.
  EXPECT_FALSE(CompareLatency(Cell(0.7, 1.0, 1.3), Cell(1.09, 1.49, 1.89))->significant);
  EXPECT_TRUE(CompareLatency(Cell(0.7, 1.0, 1.3), Cell(1.11, 1.51, 1.91))->significant);
}

TEST(LatencyTest, EqualExactTimesDoNotDiffer) {
  EXPECT_FALSE(CompareLatency(Cell(1, 1, 1), Cell(1, 1, 1))->significant);
  EXPECT_TRUE(CompareLatency(Cell(1, 1, 1), Cell(2, 2, 2))->significant);
  EXPECT_FALSE(CompareLatency(Cell(1, 1, 1), MeasuredCell()));
}

}  // namespace
}  // namespace breakwatch
