// Remote write of a million series: time and memory of an export, of its repetition, and of one that marks series.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "breakwatch/core/series.h"
#include "breakwatch/exporters/remote_write.h"
#include "fakes/fake_clock.h"
#include "fakes/sample_snapshot.h"

namespace {

using namespace breakwatch;

bool all_met = true;

void Row(const char* what, double value, double goal) {
  const bool met = value <= goal;
  all_met = all_met && met;
  std::printf("%-66s %10.1f   at most %.0f%s\n", what, value, goal, met ? "" : ": missed");
}

// MiB of this process: "VmRSS" now, "VmHWM" at most since ResetPeak.
double Memory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":")) return std::stod(line.substr(name.size() + 1)) / 1024;
  }
  return 0;
}
void ResetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

// Accepts everything, as fast as a network could at best.
class Accepting : public net::HttpSender {
 public:
  Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    ++requests, bytes += request.body.size();
    return net::HttpResponse{204, {}, ""};
  }
  std::size_t requests = 0, bytes = 0;
};

Snapshot SnapshotOf(std::size_t models) {
  Snapshot snapshot = fakes::SampleSnapshot();
  for (std::size_t i = snapshot.models.size(); i < models; ++i) {
    snapshot.models.push_back(
        fakes::MakeModel("organisation-" + std::to_string(i % 997) + "/model-" + std::to_string(i),
                         fakes::Commit("0123456789abcdef"[i % 16]),
                         {{"Data-dependent branching", "GB0170", "user_error", 6, 4},
                          {"Unsupported method call", "GB0156", "supportable", 2, 1},
                          {"Attempted to call function marked as skipped", "GB0007", "", 1, 1}},
                         static_cast<int>(i)));
  }
  return snapshot;
}

std::size_t CountSeries(const Snapshot& snapshot) {
  std::size_t count = 0;
  EachSeries(snapshot, {}, [&count](const Series&) { ++count; });
  return count;
}

void Measure(const char* what, MetricExporter& exporter, const Snapshot& snapshot, double goal_s, double goal_mib) {
  ResetPeak();
  const double before = Memory("VmRSS");
  const auto began = std::chrono::steady_clock::now();
  const Outcome outcome = exporter.Export(snapshot);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  if (outcome.delivery != Delivery::kDelivered) std::printf("%s\n", outcome.detail.c_str()), all_met = false;
  Row((std::string(what) + ", seconds").c_str(), took.count(), goal_s);
  Row("  memory in addition, MiB", Memory("VmHWM") - before, goal_mib);
}

}  // namespace

int main() {
  Snapshot snapshot = SnapshotOf(52'700);
  std::printf("%zu series of %zu models\n", CountSeries(snapshot), snapshot.models.size());
  fakes::FakeClock clock;
  auto sender = std::make_unique<Accepting>();
  const Accepting& sent = *sender;
  const auto exporter = exporters::MakeRemoteWrite({.url = "http://receiver", .labels = {{"job", "breakwatch"}}},
                                                   std::move(sender), clock);
  Measure("an export", *exporter, snapshot, 8, 150);
  std::printf("  %zu requests, %.1f MiB\n", sent.requests, static_cast<double>(sent.bytes) / (1 << 20));
  clock.Advance(std::chrono::minutes(1));
  Measure("its repetition", *exporter, snapshot, 8, 150);
  clock.Advance(std::chrono::minutes(1));
  snapshot.taken_at += std::chrono::minutes(1);
  for (std::size_t place = 0; place < snapshot.models.size(); place += 100) snapshot.models.Own(place).numbers.clear();
  Measure("an export in which one model in a hundred lost its numbers", *exporter, snapshot, 12, 200);
  return all_met ? 0 : 1;
}
