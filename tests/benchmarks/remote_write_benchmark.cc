// Remote write of a million series: time and memory of an export, of its repetition, and of one that marks series.
#include <chrono>
#include <cstdio>
#include <ctime>
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
  snapshot.delivery.clear();  // as in a daemon
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
  const std::clock_t began = std::clock();  // of a core: nothing is waited for, and other processes do not count
  const Outcome outcome = exporter.Export(snapshot);
  const double took = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
  if (outcome.delivery != Delivery::kDelivered) std::printf("%s\n", outcome.detail.c_str()), all_met = false;
  Row((std::string(what) + ", core seconds").c_str(), took, goal_s);
  Row("  memory in addition, MiB", Memory("VmHWM") - before, goal_mib);
}

}  // namespace

int main() {
  Snapshot snapshot = SnapshotOf(52'700);
  std::printf("%zu series of %zu models\n", CountSeries(snapshot), snapshot.models.size());
  fakes::FakeClock clock;
  auto sender = std::make_unique<Accepting>();
  const Accepting& sent = *sender;
  exporters::RemoteWriteOptions options;
  options.url = "http://receiver/api/v1/write";
  options.labels = {{"job", "breakwatch"}};
  const auto exporter = exporters::MakeRemoteWrite(options, std::move(sender), clock);
  Measure("an export", *exporter, snapshot, 3, 50);
  std::printf("  %zu requests, %.1f MiB\n", sent.requests, static_cast<double>(sent.bytes) / (1 << 20));
  clock.Advance(std::chrono::minutes(1));
  Measure("its repetition", *exporter, snapshot, 3, 50);
  clock.Advance(std::chrono::minutes(1));
  snapshot.taken_at += std::chrono::minutes(1);
  for (std::size_t place = 0; place < snapshot.models.size(); place += 100) snapshot.models.Own(place).numbers.clear();
  Measure("an export that marks the series of 1 % of the models", *exporter, snapshot, 5, 50);
  std::puts(all_met ? "all goals are met" : "a goal was missed");
  return all_met ? 0 : 1;
}
