// The text of a million series: time and memory of our writer, and of prometheus-cpp on the same data. Exit code 1 if a
// goal is missed. Each runs in a process of its own, so that its memory is its own. Time is processor time: other work
// on the machine does not count.
#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "breakwatch/core/exposition.h"
#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

constexpr int kModels = 57'000;  // about 17.6 series each
constexpr int kRuns = 5;         // the fastest counts

double ProcessorSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double PeakMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Models as a sweep of the Hub leaves them: two thirds break, with one to four of forty reasons.
Snapshot MakeSnapshot() {
  Snapshot snapshot;
  snapshot.toolchain_key = "default torch 2.15.0 transformers 5.23.0 python 3.11.2 cpu";
  for (int i = 0; i < kModels; ++i) {
    TrackedModel model;
    model.model = "organisation-" + std::to_string(i % 997) + "/scale-model-" + std::to_string(100'000 + i);
    model.tracked = model.in_ranking = true;
    model.family = Family::kNlp;
    model.commit = model.status_commit = Sha1Hex(model.model);
    model.rank = i + 1;
    model.downloads = 10'000'000 - i;
    model.status = i % 3 == 0 ? Status::kFullGraph : Status::kGraphBreaks;
    model.detail = "5 breaks at 3 sites";
    Numbers& numbers = model.numbers[snapshot.toolchain_key];
    numbers.commit = model.commit;
    numbers.capture_id = "20260101T000000-abcdef-" + std::to_string(100'000 + i);
    numbers.structure = Sha256Hex(model.model);
    numbers.captured_at = SystemTime{std::chrono::milliseconds(1'760'000'000'000 + i)};
    numbers.graphs = 3 + i % 5, numbers.ops_captured = 120 + i % 1000;
    numbers.phase_s = {{"capture", 1.002 + i % 11}, {"create", 0.123 + i % 7}, {"eager", 0.345}, {"inputs", 0.01}};
    for (int n = 0; n < (i % 3 == 0 ? 0 : 1 + i % 4); ++n) {
      const int reason = (i * 7 + n * 11) % 40;
      numbers.reasons.push_back({"Graph break of kind " + std::to_string(reason), "GB0" + std::to_string(100 + reason),
                                 "supportable", 1 + n, 1});
    }
    snapshot.models.push_back(std::move(model));
  }
  return snapshot;
}

struct Figures {
  double series = 0, bytes = 0, seconds = 0, peak_mib = 0;
};

Figures Ours() {
  const Snapshot snapshot = MakeSnapshot();
  Figures figures;
  figures.seconds = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    std::size_t series = 0, bytes = 0;
    const double began = ProcessorSeconds();
    WriteExposition(snapshot, {}, [&](std::string_view chunk) { bytes += chunk.size(); });
    figures.seconds = std::min(figures.seconds, ProcessorSeconds() - began);
    WriteExposition(snapshot, {}, [&](std::string_view chunk) {
      for (std::size_t at = 0; at < chunk.size(); at = chunk.find('\n', at) + 1) series += chunk[at] != '#';
    });
    figures.series = static_cast<double>(series), figures.bytes = static_cast<double>(bytes);
  }
  figures.peak_mib = PeakMib();
  return figures;
}

// A line of the format, into the registry.
class Filled {
 public:
  void Add(std::string_view line) {
    if (line.starts_with('#')) return Header(line);
    const std::size_t brace = std::min(line.find('{'), line.size()), space = line.rfind(' ');
    if (space == line.npos) return;
    std::map<std::string, std::string> labels;
    for (std::size_t at = brace + 1; brace < space && at < space;) {
      const std::size_t equals = line.find('=', at), end = line.find('"', equals + 2);
      labels.emplace(line.substr(at, equals - at), line.substr(equals + 2, end - equals - 2));
      at = end + 2;
    }
    double value = 0;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), value);
    if (counters_ != nullptr) counters_->Add(labels).Increment(value);
    if (gauges_ != nullptr) gauges_->Add(labels).Set(value);
  }
  prometheus::Registry& registry() { return registry_; }

 private:
  void Header(std::string_view line) {
    if (!line.starts_with("# TYPE ")) return;
    const std::size_t space = line.rfind(' ');
    const std::string name(line.substr(7, space - 7));
    counters_ = nullptr, gauges_ = nullptr;
    if (line.substr(space + 1) == "counter")
      counters_ = &prometheus::BuildCounter().Name(name).Help("help").Register(registry_);
    else
      gauges_ = &prometheus::BuildGauge().Name(name).Help("help").Register(registry_);
  }

  prometheus::Registry registry_;
  prometheus::Family<prometheus::Counter>* counters_ = nullptr;
  prometheus::Family<prometheus::Gauge>* gauges_ = nullptr;
};

Figures Theirs() {
  Filled filled;
  {
    std::string rest;
    const Snapshot snapshot = MakeSnapshot();
    WriteExposition(snapshot, {}, [&](std::string_view chunk) {
      rest.append(chunk);
      std::size_t at = 0;
      for (std::size_t end; (end = rest.find('\n', at)) != rest.npos; at = end + 1)
        filled.Add(std::string_view(rest).substr(at, end - at));
      rest.erase(0, at);
    });
  }
  Figures figures;
  const double began = ProcessorSeconds();
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, filled.registry().Collect());
  figures.seconds = ProcessorSeconds() - began;
  figures.bytes = static_cast<double>(text.tellp());
  figures.peak_mib = PeakMib();
  return figures;
}

// In a child: what one side needs does not count for the other.
Figures InProcess(Figures (*run)()) {
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const pid_t child = fork();
  if (child == 0) {
    const Figures figures = run();
    _exit(write(ends[1], &figures, sizeof figures) == sizeof figures ? 0 : 1);
  }
  Figures figures;
  int status = 0;
  const bool is_read = child > 0 && read(ends[0], &figures, sizeof figures) == sizeof figures;
  waitpid(child, &status, 0);
  if (!is_read || status != 0) std::exit(1);
  return figures;
}

bool all_met = true;

void Row(const char* figure, double value, const char* unit, double goal, bool at_most) {
  const bool met = at_most ? value <= goal : value >= goal;
  all_met = all_met && met;
  std::printf("| %s | %.2f %s | %s %.0f | %s |\n", figure, value, unit, at_most ? "at most" : "at least", goal,
              met ? "" : "missed");
}

}  // namespace
}  // namespace breakwatch

int main() {
  using namespace breakwatch;
  const Figures ours = InProcess(Ours), theirs = InProcess(Theirs);
  std::puts("| figure | value | goal | |\n| --- | --- | --- | --- |");
  Row("series", ours.series, "", 1'000'000, false);
  Row("processor time to serialise them", ours.seconds, "s", 1, true);
  Row("largest memory, with the snapshot", ours.peak_mib, "MiB", 400, true);
  Row("times as fast as prometheus-cpp", theirs.seconds / ours.seconds, "", 8, false);
  std::printf("ours: %.0f MB, %.0f MB/s; prometheus-cpp: %.2f s, %.0f MiB\n", ours.bytes / 1e6,
              ours.bytes / 1e6 / ours.seconds, theirs.seconds, theirs.peak_mib);
  std::puts(all_met ? "exposition: every goal is met" : "exposition: a goal is missed");
  return all_met ? 0 : 1;
}
