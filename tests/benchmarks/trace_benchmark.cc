// Measures how fast traces are read, and with how much memory. The trace has the composition of real ones: by bytes,
// what torch 2.15 wrote for small compiled modules (chromium events, metrics of 40 kB, graphs, breaks with their
// tracebacks).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "breakwatch/trace/read_traces.h"
#include "trace/sample_trace.h"

namespace breakwatch::trace {
namespace {

constexpr std::uintmax_t kBytes = 256u << 20;

std::string ChromiumEvent(int frame) {
  const std::string payload =
      "{\n\"name\": \"bytecode_tracing\",\n\"ts\": 1795239484523299.0,\n\"args\": {\n\"compile_id\": \"" +
      std::to_string(frame) + "/0\"\n},\n\"ph\": \"B\",\n\"cat\": \"dynamo_timed\",\n\"tid\": 0,\n\"pid\": 0\n}";
  return RecordText("\"chromium_event\": {}" + At(frame, 0), &payload);
}

// Code, guards, bytecode: long payloads of short lines, which are checked and skipped.
std::string LongPayload(int frame) {
  std::string code;
  for (int line = 0; line < 400; ++line) code += "    x_" + std::to_string(line) + ": \"f32[4, 4]\" = l_x_ + 1;\n";
  return RecordText("\"dynamo_cpp_guards_str\": {}" + At(frame, 0), &code);
}

std::string Compilation(int frame) {
  std::string text = Start(frame, 0);
  for (int i = 0; i < 16; ++i) text += ChromiumEvent(frame);
  std::string config;
  for (int i = 0; i < 900; ++i) config += "\\\"an_option_of_the_compiler_" + std::to_string(i) + "\\\": false, ";
  text += Break(frame, 0, frame % 500) + Graph(frame, 0) + LongPayload(frame) + LongPayload(frame);
  return text + Metrics(frame, 0, "\"dynamo_config\": \"{" + config + "}\", \"fail_type\": null");
}

// Made once, by the first benchmark that needs it.
const std::string& BigTrace() {
  static const std::string folder = [] {
    std::string pattern = std::filesystem::temp_directory_path() / "breakwatch-bench-XXXXXX";
    std::string made = mkdtemp(pattern.data());
    std::ofstream out(made + "/dedicated_log_torch_trace_x.log", std::ios::binary);
    for (int frame = 0; static_cast<std::uintmax_t>(out.tellp()) < kBytes; ++frame) out << Compilation(frame);
    return made;
  }();
  static const int removed = std::atexit([] { std::filesystem::remove_all(BigTrace()); });
  (void)removed;
  return folder;
}

void ReadBigTrace(benchmark::State& state) {
  const std::string& folder = BigTrace();
  std::uint64_t bytes = 0, records = 0;
  for (auto _ : state) {
    const auto import = ReadTraces(folder);
    if (!import) return state.SkipWithError(import.error().message.c_str());
    bytes += import->bytes;
    records += static_cast<std::uint64_t>(import->records);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(records));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["MB_per_cpu_s"] = benchmark::Counter(static_cast<double>(bytes) / 1e6, benchmark::Counter::kIsRate);
  state.counters["peak_rss_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(ReadBigTrace)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace breakwatch::trace

BENCHMARK_MAIN();
