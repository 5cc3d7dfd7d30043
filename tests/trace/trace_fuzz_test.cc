#include "fuzz/trace_fuzz.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/sample_trace.h"

namespace breakwatch::fuzz {
namespace {

std::string Seed() {
  using namespace trace;  // NOLINT: the sample's own
  return String(1, "/home/job/net.py") + BrokenCompile(0, 0) + BrokenCompile(0, 1, 12) +
         Metrics(3, 0, "\"fail_type\": \"BackendCompilerFailed\", \"fail_reason\": \"x\"");
}

TEST(TraceFuzzTest, SurvivesEveryPrefix) {
  const std::string seed = Seed();
  for (std::size_t size = 0; size <= seed.size(); size += 23) ReadTraceBytes(std::string_view(seed).substr(0, size));
}

TEST(TraceFuzzTest, SurvivesChangedBytes) {
  std::minstd_rand random(7);
  const std::string seed = Seed();
  for (int round = 0; round < 800; ++round) {
    std::string bytes = seed;
    for (int change = 0; change < 1 + round % 8; ++change) {
      static constexpr std::string_view kBytes = "[]{}\",:\\0-+eE.tfnNI \n\t\x00\x7f\x80\xff<>;=/@u*";
      bytes[random() % bytes.size()] = kBytes[random() % kBytes.size()];
    }
    if (round % 5 == 0) bytes.erase(random() % bytes.size(), random() % 200);
    ReadTraceBytes(bytes);
  }
}

TEST(TraceFuzzTest, SurvivesHostileShapes) {
  const std::string head = "V1206 15:20:13.928000 4171 a.py:1] {\"str\": ";
  ReadTraceBytes(head + std::string(1'000'000, '['));
  ReadTraceBytes(head + std::string(3'000, '[') + "\n" + head + "[\"x\", 0]}\n");
  ReadTraceBytes(std::string(1'000'000, '\t'));
  ReadTraceBytes(std::string(1'000'000, '\n'));
  ReadTraceBytes("Graph break in user code at a:1\nGraph Break Reason: " + std::string(100'000, '\n') + "Hint: ");
  std::string hints = "Graph break in user code at a:1\nGraph Break Reason: ";
  for (int i = 0; i < 20'000; ++i) hints += "\n Hint: ";
  ReadTraceBytes(hints);
}

}  // namespace
}  // namespace breakwatch::fuzz
