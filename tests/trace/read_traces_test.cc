#include "breakwatch/trace/read_traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compile_seconds.h"
#include "trace/sample_trace.h"

namespace breakwatch::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ReadTracesTest : public TraceFolder {
 protected:
  Import Read() const {
    auto import = ReadTraces(folder());
    EXPECT_TRUE(import.ok()) << (import ? "" : import.error().message);
    return import ? *std::move(import) : Import{};
  }
  nlohmann::json Detail(const Import& import) const { return nlohmann::json::parse(import.capture.mode_detail_json); }
};

TEST_F(ReadTracesTest, CountsBreaksGraphsAndRecompiles) {
  Write("abc", BrokenCompile(0, 0) + BrokenCompile(1, 0) + BrokenCompile(0, 1, 50));
  const Import import = Read();
  EXPECT_EQ(import.capture.status, Status::kGraphBreaks);
  EXPECT_EQ(import.capture.breaks, 3);
  EXPECT_EQ(import.capture.break_sites, 1);  // a site knows its line's text and not its number
  EXPECT_EQ(import.capture.graphs, 3);
  EXPECT_EQ(import.capture.recompiles, 1);
  EXPECT_EQ(import.capture.ops_captured, 15);
  EXPECT_EQ(Detail(import)["compiles"], 3);
  EXPECT_EQ(import.capture.frames_fallback, 0);
  EXPECT_EQ(import.capture.sites.front().occurrences, 3);
  EXPECT_EQ(import.capture.sites.front().compile_id, "0/0");
  EXPECT_EQ(import.capture.detail, "3 breaks at 1 site, 3 graphs, 1 recompile");
  EXPECT_THAT(import.warnings, IsEmpty());
}

// --- graphs without operations

TEST_F(ReadTracesTest, DoesNotCountAGraphThatWasNotHandedToTheBackend) {
  const std::string empty = "\"graph_op_count\": 0, \"backend_compile_time_s\": ";
  Write("abc", Start(0, 0) + Graph(0, 0) + Metrics(0, 0, empty + "null") + BrokenCompile(1, 0));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.graphs, 1);
  ASSERT_EQ(capture.segments.size(), 1u);
  EXPECT_EQ(capture.segments[0].index, 0);
  EXPECT_EQ(capture.segments[0].compile_id, "1/0");
  EXPECT_EQ(capture.segments[0].ops_total, 5);
}

TEST_F(ReadTracesTest, CountsAGraphWithoutOperationsThatAnOlderReleaseHandedToTheBackend) {
  const std::string empty = "\"graph_op_count\": 0, \"backend_compile_time_s\": ";
  Write("abc", Start(0, 0) + Graph(0, 0) + Metrics(0, 0, empty + "0.0001") + BrokenCompile(1, 0));
  EXPECT_EQ(Read().capture.graphs, 2);
}

// --- older releases

TEST_F(ReadTracesTest, TakesTheBreaksOfOlderReleases) {
  const std::string text = OldBreakText("Unsupported: builtin: print [<class 'ConstantVariable'>] False");
  Write("abc", Start(0, 0) + Artifact("dynamo_graph_break_reason", text, At(0, 0)) + Graph(0, 0) +
                   Metrics(0, 0, "\"restart_reasons\": [\"builtin: print [<class 'ConstantVariable'>] False\"]"));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.status, Status::kGraphBreaks);
  EXPECT_EQ(capture.breaks, 1);
  EXPECT_EQ(capture.unexplained_events, 0);
  const BreakSite& site = capture.sites.front();
  EXPECT_EQ(site.reason, "builtin: print");
  EXPECT_EQ(site.gb_id, "");
  EXPECT_EQ(site.file, "net.py");
  EXPECT_EQ(site.line, 239);
  EXPECT_EQ(site.function, "inner");
  EXPECT_EQ(site.source_line, "print(\"seen\")");
}

TEST_F(ReadTracesTest, CountsABranchInAnInlinedCalleeOnce) {
  const auto log = [](const std::string& reason) {
    return Artifact("dynamo_graph_break_reason", OldBreakText(reason), At(0, 0));
  };
  Write("abc", Start(0, 0) + log("Data-dependent jump") + log("Unsupported: should_compile_partial_graph=False") +
                   Graph(0, 0) + Metrics(0, 0) + BrokenCompile(1, 0));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.breaks, 2);
  EXPECT_EQ(capture.sites.front().reason, "Data-dependent branching");
  Write("abc", Start(0, 0) + log("Data-dependent jump") + Graph(0, 0) + Metrics(0, 0));
  EXPECT_EQ(Read().capture.breaks, 1);
  Write("abc", Start(0, 0) + log("Data-dependent jump") +
                   Metrics(0, 0,
                           "\"has_guarded_code\": false, \"fail_type\": \"Unsupported\", \"fail_reason\": "
                           "\"should_compile_partial_graph=False\""));
  EXPECT_EQ(Read().capture.breaks, 1);
}

TEST_F(ReadTracesTest, CountsABreakThatReturnedAFrameToPythonWithoutALog) {
  Write("abc", Start(0, 0) + Metrics(0, 0,
                                     "\"has_guarded_code\": false, \"fail_type\": \"Unsupported\", "
                                     "\"fail_reason\": \"missing: WITH_EXCEPT_START\", "
                                     "\"fail_user_frame_filename\": \"/home/job/net.py\", "
                                     "\"fail_user_frame_lineno\": 40"));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.status, Status::kGraphBreaks);
  EXPECT_EQ(capture.breaks, 1);
  EXPECT_EQ(capture.frames_fallback, 1);
  EXPECT_EQ(capture.sites.front().reason, "missing: WITH_EXCEPT_START");
  EXPECT_EQ(capture.sites.front().wrapped_in, "frame skipped");
  EXPECT_EQ(capture.sites.front().file, "net.py");
  EXPECT_EQ(capture.sites.front().line, 40);
}

TEST_F(ReadTracesTest, ReportsASkippedFrameForAnOlderBreakInALoop) {
  const std::string text = OldBreakText("Unsupported: skip function graph_break in file /opt/a.py");
  Write("abc", Start(0, 0) + Artifact("dynamo_graph_break_reason", text, At(0, 0)) +
                   Metrics(0, 0,
                           "\"has_guarded_code\": false, \"fail_type\": \"SkipFrame\", \"fail_reason\": "
                           "\"Skipping frame because there is a graph break in a for/while loop\\n<x>\""));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.breaks, 1);
  EXPECT_EQ(capture.sites.front().reason, "skip function graph_break");
  EXPECT_EQ(capture.sites.front().wrapped_in, "graph break in loop / frame skipped");
}

TEST_F(ReadTracesTest, CountsARestartThatIsTheOnlyTraceOfABreak) {
  Write("abc", Start(0, 0) + Graph(0, 0) +
                   Metrics(0, 0,
                           "\"restart_reasons\": [\"call_method UserDefined 0x7f\", "
                           "\"<class 'UnspecializeRestartAnalysis'>\"]"));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.breaks, 1);
  EXPECT_EQ(capture.sites.front().reason, "call_method UserDefined");
  EXPECT_EQ(capture.unexplained_events, 0);
}

// --- what ran and what failed

TEST_F(ReadTracesTest, IsNoFullGraphWhereTheOnlyCompilationFailed) {
  const std::string failed =
      "\"has_guarded_code\": false, \"config_suppress_errors\": true, \"fail_type\": "
      "\"BackendCompilerFailed\", \"fail_reason\": \"backend='x' raised\"";
  Write("abc", Start(0, 0) + Graph(0, 0) + Metrics(0, 0, failed));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.status, Status::kFailedCapture);
  EXPECT_THAT(capture.detail, HasSubstr("1 error suppressed, the first BackendCompilerFailed in 0/0: backend='x'"));
}

TEST_F(ReadTracesTest, FailsWhereTheBackwardFailed) {
  Write("abc", Start(0, 0) + Graph(0, 0) + Metrics(0, 0) +
                   Metrics(0, 0, "\"is_forward\": false, \"fail_type\": \"RuntimeError\", \"fail_reason\": \"no\""));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.status, Status::kFailedCapture);
  EXPECT_THAT(capture.detail, HasSubstr("RuntimeError in 0/0: no"));
}

TEST_F(ReadTracesTest, ReportsWhatRanAndOmitsWhatTheTraceDoesNotContain) {
  Write("abc", BrokenCompile(0, 0));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.toolchain.name, "import");
  EXPECT_EQ(capture.toolchain.Key(), "import torch 2.15.0+cu132 python 3.11.7");
  EXPECT_EQ(capture.mode, "import");
  EXPECT_EQ(capture.dynamo_counter_breaks, std::nullopt);
  EXPECT_EQ(capture.explain_breaks, std::nullopt);
  EXPECT_EQ(capture.frames_total, std::nullopt);
  EXPECT_EQ(capture.params, std::nullopt);
  EXPECT_EQ(capture.device, "");
  EXPECT_EQ(capture.started_at, SystemTime{});
}

TEST_F(ReadTracesTest, DescribesAGraphByItsStringTableAndItsMetrics) {
  Write("abc", String(0, "/home/job/run.py") + String(1, "/home/job/net.py") + BrokenCompile(0, 0));
  const CaptureResult capture = Read().capture;
  ASSERT_EQ(capture.segments.size(), 1u);
  const GraphSegment& graph = capture.segments.front();
  EXPECT_EQ(graph.compile_id, "0/0");
  EXPECT_EQ(graph.file, "net.py");
  EXPECT_EQ(graph.line, 12);
  EXPECT_EQ(graph.function, "forward");
  EXPECT_EQ(graph.ops_total, 5);
  EXPECT_EQ(graph.inputs, 2);
  EXPECT_EQ(graph.guards, 7);
  EXPECT_EQ(graph.ended_by, capture.sites.front().site_id);
}

TEST_F(ReadTracesTest, IsAFullGraphWhenNothingBroke) {
  Write("abc", Start(0, 0) + Graph(0, 0) + Metrics(0, 0));
  EXPECT_EQ(Read().capture.status, Status::kFullGraph);
}

TEST_F(ReadTracesTest, DoesNotCallAFullGraphWhatDidNotEnd) {
  Write("abc", Start(0, 0) + Graph(0, 0) + Metrics(0, 0) + Start(1, 0));
  const Import import = Read();
  EXPECT_EQ(import.capture.status, Status::kFailedCapture);
  EXPECT_THAT(import.capture.detail, HasSubstr("the trace ends inside 1 compilation"));
}

TEST_F(ReadTracesTest, FailsWhereACompilationFailed) {
  Write("abc", BrokenCompile(0, 0) + Start(1, 0) +
                   Metrics(1, 0,
                           "\"has_guarded_code\": false, \"fail_type\": \"BackendCompilerFailed\", \"fail_reason\": "
                           "\"backend='x' raised\\nmore\", \"exception_stack_trace\": [\"Traceback\\n x\"]"));
  const Import import = Read();
  EXPECT_EQ(import.capture.status, Status::kFailedCapture);
  EXPECT_EQ(import.capture.detail, "BackendCompilerFailed in 1/0: backend='x' raised; 1 break at 1 site, 1 graph");
  EXPECT_EQ(import.capture.error, "Traceback\n x");
  EXPECT_EQ(Detail(import)["failures"][0]["type"], "BackendCompilerFailed");
}

TEST_F(ReadTracesTest, DoesNotFailForABreakThatLeftItsFrameToPython) {
  const std::string failed = Metrics(0, 0, "\"has_guarded_code\": false, \"fail_type\": \"Unsupported\"");
  Write("abc", Start(0, 0) + Break(0, 0) + failed);
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.status, Status::kGraphBreaks);
  EXPECT_EQ(capture.frames_fallback, 1);
}

TEST_F(ReadTracesTest, FailsForABreakThatWasRaisedInsteadOfTaken) {
  Write("abc", Start(0, 0) +
                   Metrics(0, 0, "\"fail_type\": \"Unsupported\", \"fail_reason\": \"Call to x\\n  Explanation: y\""));
  EXPECT_EQ(Read().capture.status, Status::kFailedCapture);
}

TEST_F(ReadTracesTest, ContinuesAfterTheRecompileLimitLikeTheJob) {
  Write("abc", Graph(0, 0) + Metrics(0, 0) + Start(0, 1) +
                   Metrics(0, 1,
                           "\"has_guarded_code\": false, \"fail_type\": \"Unsupported\", \"fail_reason\": "
                           "\"Dynamo recompile limit exceeded\\n  Explanation: x\""));
  const Import import = Read();
  EXPECT_EQ(import.capture.status, Status::kFullGraph);
  EXPECT_EQ(import.capture.frames_fallback, 1);
  EXPECT_EQ(Detail(import)["failures"][0]["reason"], "Dynamo recompile limit exceeded\n  Explanation: x");
}

TEST_F(ReadTracesTest, NamesAnErrorThatTheJobSuppressed) {
  const std::string failed =
      "\"has_guarded_code\": false, \"config_suppress_errors\": true, \"fail_type\": "
      "\"BackendCompilerFailed\", \"fail_reason\": \"backend='x' raised\\nmore\"";
  Write("abc", Start(0, 0) + Metrics(0, 0, failed) + Start(1, 0) + Graph(1, 0) + Metrics(1, 0));
  const CaptureResult capture = Read().capture;
  EXPECT_EQ(capture.status, Status::kFullGraph);
  EXPECT_EQ(capture.detail,
            "no breaks, 1 graph; 1 error suppressed, the first BackendCompilerFailed in 0/0: backend='x' raised");
}

TEST_F(ReadTracesTest, FindsBreaksThatTheTraceDoesNotContain) {
  Write("abc", Start(0, 0) + Metrics(0, 0, "\"restart_reasons\": [\"Call to x\\n  Explanation: y\"]"));
  const Import import = Read();
  EXPECT_EQ(import.capture.unexplained_events, 1);
  EXPECT_THAT(import.warnings, ElementsAre("1 compilation was restarted by a break that the trace does not show"));
}

TEST_F(ReadTracesTest, CountsAReportOfASkippedFrameAsNoBreak) {
  Write("abc", Start(0, 0) + Artifact("dynamo_graph_break_reason", "WON'T CONVERT forward a.py line 1\n", At(0, 0)) +
                   Metrics(0, 0));
  const Import import = Read();
  EXPECT_EQ(import.capture.breaks, 0);
  EXPECT_EQ(Detail(import)["skipped_frames"], 1);
}

TEST_F(ReadTracesTest, AddsUpTimesOnceWhereCompilationsNest) {
  const auto timed = [](const char* start, const char* duration) {
    return std::string("\"start_time_us\": ") + start + ", \"duration_us\": " + duration;
  };
  Write("abc", Start(0, 0) + Start(1, 0) + Metrics(1, 0, timed("1795239754000000", "1000000")) +
                   Metrics(0, 0, timed("1795239753500000", "2000000")) + Start(2, 0) +
                   Metrics(2, 0, timed("1795239760000000", "500000")));
  const CaptureResult capture = Read().capture;
  EXPECT_NEAR(capture.phase_s.at("capture"), 2.5, 1e-6);
  EXPECT_EQ(std::chrono::floor<std::chrono::seconds>(capture.started_at).time_since_epoch().count(), 1795239753);
}

TEST(CompileSecondsTest, CountsOverlapsOnceAndOmitsNothing) {
  CompileSeconds seconds;
  for (int i = 0; i < 5000; ++i) seconds.Add(10.0 * i, 1.0);
  seconds.Add(std::nullopt, 2.0);
  seconds.Add(10.0 * 4999 - 0.5, 2.0);
  EXPECT_NEAR(seconds.Total(), 5003.0, 1e-6);
}

TEST_F(ReadTracesTest, ReportsEachReasonOfRecompilationsOnce) {
  const std::string why = "\"recompile_reason\": \"0/0: size mismatch\"";
  Write("abc", BrokenCompile(0, 0) + Start(0, 1) +
                   Artifact("recompile_reasons", "[\n\"0/0: size mismatch\"\n]", At(0, 1)) + Metrics(0, 1, why));
  const auto reasons = Detail(Read())["recompile_reasons"];
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0]["reason"], "0/0: size mismatch");
  EXPECT_EQ(reasons[0]["count"], 1);
}

// --- damage

TEST_F(ReadTracesTest, LeavesOutTheRecordThatTheEndOfTheFileCut) {
  const std::string good = BrokenCompile(0, 0), last = Break(1, 0, 9);
  for (const std::size_t kept : {last.size() - 20, last.size() / 2, std::size_t{100}, std::size_t{20}}) {
    Write("abc", good + last.substr(0, kept));
    const Import import = Read();
    EXPECT_EQ(import.capture.breaks, 1) << kept;
    EXPECT_THAT(import.warnings, ElementsAre("1 record is cut by the end of its file and was skipped")) << kept;
  }
}

TEST_F(ReadTracesTest, TakesAFileWhoseLineEndsWereChanged) {
  std::string text = BrokenCompile(0, 0) + BrokenCompile(1, 0), changed;
  Write("abc", text);
  const Import plain = Read();
  for (const char c : text) changed += c == '\n' ? std::string("\r\n") : std::string(1, c);
  Write("abc", changed);
  const Import import = Read();
  EXPECT_THAT(import.warnings, IsEmpty());
  EXPECT_EQ(import.digest, plain.digest);
  EXPECT_EQ(import.capture.breaks, 2);
  EXPECT_EQ(import.capture.sites.front().site_id, plain.capture.sites.front().site_id);
  EXPECT_EQ(import.capture.sites.front().explanation, plain.capture.sites.front().explanation);
}

TEST_F(ReadTracesTest, TakesALastLineWithoutItsEnd) {
  std::string text = BrokenCompile(0, 0);
  text.pop_back();
  Write("abc", text);
  EXPECT_EQ(Detail(Read())["compiles"], 1);
  EXPECT_THAT(Read().warnings, IsEmpty());
}

TEST_F(ReadTracesTest, ContinuesAfterLinesThatCannotBeRead) {
  Write("abc", "garbage\n" + RecordText("\"str\": [broken") + "\tits payload\n\n" + BrokenCompile(0, 0));
  const Import import = Read();
  EXPECT_EQ(import.capture.breaks, 1);
  EXPECT_THAT(import.warnings, ElementsAre("2 lines could not be read and were skipped"));
  EXPECT_THAT(import.capture.detail, HasSubstr("2 unreadable lines"));
}

TEST_F(ReadTracesTest, CountsAPayloadThatDiffersFromItsDigest) {
  std::string text = BrokenCompile(0, 0);
  text[text.find("ConstantVariable")] = 'X';
  Write("abc", text);
  const Import import = Read();
  EXPECT_EQ(import.capture.breaks, 1);
  EXPECT_THAT(import.warnings, ElementsAre("1 payload differs from its digest"));
}

TEST_F(ReadTracesTest, LeavesOutALineLongerThanAllowed) {
  Write("abc", String(7, std::string(100'000, 'x')) + BrokenCompile(0, 0));
  ReadOptions options;
  options.max_line_bytes = 50'000;
  const auto import = ReadTraces(folder(), options);
  ASSERT_TRUE(import.ok());
  EXPECT_EQ(import->capture.breaks, 1);
  EXPECT_THAT(import->warnings, ElementsAre("1 line could not be read and was skipped"));
}

TEST_F(ReadTracesTest, ReportsWhatIsMissingIfThereIsNothingToRead) {
  EXPECT_THAT(ReadTraces(folder()).error().message, HasSubstr("TORCH_TRACE=DIR"));
  EXPECT_EQ(ReadTraces(folder() + "/absent").error().code, ErrorCode::kUsage);
  Write("abc", String(0, "x"));
  EXPECT_THAT(ReadTraces(folder()).error().message, HasSubstr("nothing was compiled"));
  Write("abc", "some other log\n");
  EXPECT_THAT(ReadTraces(folder()).error().message, HasSubstr("no record"));
}

TEST_F(ReadTracesTest, StopsOnRequest) {
  Write("abc", BrokenCompile(0, 0) + String(0, std::string(9u << 20, 'x')) + BrokenCompile(1, 0));
  std::stop_source stop;
  stop.request_stop();
  ReadOptions options;
  options.stop = stop.get_token();
  EXPECT_EQ(ReadTraces(folder(), options).error().code, ErrorCode::kInterrupted);
}

// --- several ranks

TEST_F(ReadTracesTest, PublishesTheLowestRankAndNamesTheRanksThatDiffer) {
  Write("rank_0_a", BrokenCompile(0, 0));
  Write("rank_1_b", BrokenCompile(0, 0));
  Write("rank_10_c", BrokenCompile(0, 0) + BrokenCompile(0, 1));
  const Import import = Read();
  EXPECT_EQ(import.capture.breaks, 1);
  EXPECT_EQ(import.files, 3);
  EXPECT_EQ(
      import.capture.detail,
      "rank 0: 1 break at 1 site, 1 graph; 1 of 3 ranks differ: rank 10: 2 breaks at 1 site, 2 graphs, 1 recompile");
  const auto ranks = Detail(import)["ranks"];
  ASSERT_EQ(ranks.size(), 3u);
  EXPECT_EQ(ranks[2]["rank"], 10);
  EXPECT_EQ(ranks[2]["breaks"], 2);
  EXPECT_TRUE(ranks[2]["differs"]);
  EXPECT_FALSE(ranks[1].contains("differs"));
}

TEST_F(ReadTracesTest, KeepsTheSitesThatOnlyOtherRanksHave) {
  const auto other = [](const char* function) {
    return Start(5, 0) +
           Artifact("dynamo_graph_break_reason", BreakText(Tracing(kPrintMessage), 77, function), At(5, 0)) +
           Graph(5, 0) + Metrics(5, 0);
  };
  Write("rank_0_a", BrokenCompile(0, 0));
  Write("rank_1_b", BrokenCompile(0, 0) + other("once"));
  Write("rank_2_c", BrokenCompile(0, 0) + other("once") + other("twice"));
  const Import import = Read();
  EXPECT_EQ(import.capture.breaks, 3);
  EXPECT_EQ(import.capture.break_sites, 3);
  ASSERT_EQ(import.capture.sites.size(), 3u);
  EXPECT_EQ(import.capture.sites[1].function, "once");
  EXPECT_EQ(import.capture.sites[2].function, "twice");
  EXPECT_EQ(import.capture.graphs, 1);  // of rank 0
  EXPECT_THAT(import.capture.detail, testing::StartsWith("rank 0: 1 break at 1 site, 1 graph; 2 more sites on other "
                                                         "ranks; 2 of 3 ranks differ: rank 1: 2 breaks"));
  const auto ranks = Detail(import)["sites_of_other_ranks"];
  EXPECT_EQ(ranks[import.capture.sites[1].site_id], (std::vector<int>{1, 2}));
  EXPECT_EQ(ranks[import.capture.sites[2].site_id], (std::vector<int>{2}));
}

TEST_F(ReadTracesTest, IsNoFullGraphWhereOnlyAnotherRankBreaksOrFails) {
  const std::string whole = Start(0, 0) + Graph(0, 0) + Metrics(0, 0);
  Write("rank_0_a", whole);
  Write("rank_1_b", whole + BrokenCompile(1, 0));
  EXPECT_EQ(Read().capture.status, Status::kGraphBreaks);
  Write("rank_1_b",
        whole + Start(1, 0) + Metrics(1, 0, "\"fail_type\": \"BackendCompilerFailed\", \"fail_reason\": \"no\""));
  const CaptureResult failed = Read().capture;
  EXPECT_EQ(failed.status, Status::kFailedCapture);
  EXPECT_THAT(failed.detail, testing::StartsWith("BackendCompilerFailed in 1/0 of rank 1: no; rank 0: no breaks"));
}

TEST_F(ReadTracesTest, FindsARankInsideAFileThatDoesNotNameIt) {
  Write("a",
        RecordText("\"str\": [\"x\", 0]") + RecordText("\"dynamo_start\": {}, \"rank\": 3" + At(0, 0)) + Metrics(0, 0));
  Write("rank_2_b", BrokenCompile(0, 0));
  const Import import = Read();
  EXPECT_EQ(Detail(import)["rank"], 2);
  EXPECT_EQ(Detail(import)["ranks"][1]["rank"], 3);
}

TEST_F(ReadTracesTest, AddsUpProcessesWithoutRanks) {
  Write("a", BrokenCompile(0, 0));
  Write("b", BrokenCompile(0, 0, 9));
  const Import import = Read();
  EXPECT_EQ(import.capture.breaks, 2);
  EXPECT_EQ(import.capture.sites.front().occurrences, 2);
}

TEST_F(ReadTracesTest, DistinguishesTracesByTheirDigest) {
  Write("a", BrokenCompile(0, 0));
  const std::string first = Read().digest;
  EXPECT_EQ(first.size(), 64u);
  EXPECT_EQ(Read().digest, first);
  Write("a", BrokenCompile(0, 0, 9));
  EXPECT_NE(Read().digest, first);
}

}  // namespace
}  // namespace breakwatch::trace
