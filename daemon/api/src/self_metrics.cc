#include "self_metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace breakwatch::api {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

double Seconds(SystemTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

class Families {
 public:
  MetricFamily& Add(const std::string& name, const std::string& help, MetricType type) {
    families_.push_back({name, help, type, {}});
    return families_.back();
  }
  void Gauge(const std::string& name, const std::string& help, double value, Labels labels = {}) {
    Sample(Add(name, help, MetricType::Gauge), value, std::move(labels));
  }
  void Counter(const std::string& name, const std::string& help, double value) {
    Sample(Add(name, help, MetricType::Counter), value, {});
  }
  static void Sample(MetricFamily& family, double value, Labels labels) {
    ClientMetric metric;
    metric.label = std::move(labels);
    if (family.type == MetricType::Counter) metric.counter.value = value;
    if (family.type == MetricType::Gauge) metric.gauge.value = value;
    family.metric.push_back(std::move(metric));
  }
  std::string Text() const { return prometheus::TextSerializer().Serialize(families_); }

 private:
  std::vector<MetricFamily> families_;
};

// The fields of /proc/self/stat from the third on, because the second may contain blanks.
std::vector<double> ProcessStat() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<double> fields;
  const auto end = text.rfind(')');
  if (end == std::string::npos || end + 4 > text.size()) return fields;
  std::size_t at = end + 4;  // past ") S "
  while (at < text.size()) {
    fields.push_back(std::strtod(text.c_str() + at, nullptr));
    at = text.find(' ', at);
    if (at == std::string::npos) break;
    ++at;
  }
  return fields;
}

double OpenDescriptors() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end; it.increment(error))
    ++count;
  return count;
}

void AddProcess(Families& families) {
  constexpr std::size_t kUser = 10, kSystem = 11, kThreads = 16, kStart = 18, kVirtual = 19, kResident = 20;
  const std::vector<double> stat = ProcessStat();
  if (stat.size() <= kResident) return;
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  double boot = 0;
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    if (word == "btime") file >> boot;
  }
  rlimit descriptors{};
  getrlimit(RLIMIT_NOFILE, &descriptors);
  families.Counter("process_cpu_seconds_total", "Processor time of the daemon without its workers.",
                   (stat[kUser] + stat[kSystem]) / ticks);
  families.Gauge("process_resident_memory_bytes", "Resident memory of the daemon.",
                 stat[kResident] * static_cast<double>(sysconf(_SC_PAGESIZE)));
  families.Gauge("process_virtual_memory_bytes", "Virtual memory of the daemon.", stat[kVirtual]);
  families.Gauge("process_start_time_seconds", "Start of the daemon, Unix time.", boot + stat[kStart] / ticks);
  families.Gauge("process_open_fds", "Open file descriptors of the daemon.", OpenDescriptors());
  families.Gauge("process_max_fds", "Limit of open file descriptors.", static_cast<double>(descriptors.rlim_cur));
  families.Gauge("process_threads", "Threads of the daemon.", stat[kThreads]);
}

using DeliveryOfAll = std::vector<DeliveryStats>;

void AddCounts(Families& families, const DeliveryOfAll& delivery) {
  struct Series {
    const char *name, *help;
    MetricType type;
    double (*value)(const DeliveryStats&);
  };
  static constexpr Series kSeries[] = {
      {"breakwatch_export_attempts_total", "Exports started, counted by the process: rate() is correct here.",
       MetricType::Counter, [](const DeliveryStats& d) { return static_cast<double>(d.attempts); }},
      {"breakwatch_export_failures_total", "Exports that were not accepted, counted by the process.",
       MetricType::Counter, [](const DeliveryStats& d) { return static_cast<double>(d.failures); }},
      {"breakwatch_events_pending", "Stored events that the exporter has not sent yet.", MetricType::Gauge,
       [](const DeliveryStats& d) { return static_cast<double>(d.events_pending); }},
      {"breakwatch_events_oldest_age_seconds", "Age of the oldest event that the exporter has not sent yet.",
       MetricType::Gauge, [](const DeliveryStats& d) { return static_cast<double>(d.oldest_age.count()) / 1000; }},
      {"breakwatch_export_paused", "1 while the target refuses every event.", MetricType::Gauge,
       [](const DeliveryStats& d) { return d.paused ? 1.0 : 0.0; }},
      {"breakwatch_dead_letters", "Events that the target refused (breakwatch dead-letters list).", MetricType::Gauge,
       [](const DeliveryStats& d) { return static_cast<double>(d.dead_letters); }},
  };
  for (const Series& series : kSeries) {
    MetricFamily& family = families.Add(series.name, series.help, series.type);
    for (const DeliveryStats& stats : delivery)
      Families::Sample(family, series.value(stats), {{"exporter", stats.exporter}});
  }
}

// "Never" is a missing series: as a time it would be 1970.
void AddTimes(Families& families, const DeliveryOfAll& delivery) {
  struct Series {
    const char *name, *help;
    SystemTime DeliveryStats::*time;
  };
  static constexpr Series kSeries[] = {
      {"breakwatch_export_last_success_timestamp_seconds", "Last accepted export; absent before the first.",
       &DeliveryStats::last_success},
      {"breakwatch_export_last_failure_timestamp_seconds",
       "Last export that the target did not accept; absent before the first. Dead letters do not count.",
       &DeliveryStats::last_failure},
      {"breakwatch_events_oldest_timestamp_seconds",
       "Time of the oldest event that the exporter has not sent yet; absent if none.", &DeliveryStats::oldest_at},
  };
  for (const Series& series : kSeries) {
    MetricFamily& family = families.Add(series.name, series.help, MetricType::Gauge);
    for (const DeliveryStats& stats : delivery) {
      if (stats.*series.time == SystemTime{}) continue;
      Families::Sample(family, Seconds(stats.*series.time), {{"exporter", stats.exporter}});
    }
  }
}

void AddWorkers(Families& families, const WorkersOfAll& workers) {
  for (const WorkerSeries& series : kWorkerSeries) {
    MetricFamily& family = families.Add(series.name, series.help, MetricType::Counter);
    for (const auto& [toolchain, counts] : workers)
      Families::Sample(family, static_cast<double>(counts.*series.value), {{"toolchain", toolchain}});
  }
}

}  // namespace

std::string SelfMetrics(const ServerParts& parts, const std::string& version) {
  Families families;
  AddProcess(families);
  families.Gauge("breakwatch_daemon_info", "1; the version of the daemon.", 1, {{"version", version}});
  const ReloadState reload = parts.reload_state();
  families.Gauge("breakwatch_config_last_reload_successful", "1 if the newest reload of the settings was accepted.",
                 reload.successful ? 1 : 0);
  families.Gauge("breakwatch_config_last_reload_success_timestamp_seconds", "Time of the newest accepted reload.",
                 Seconds(reload.at));
  const DeliveryOfAll delivery = parts.delivery();
  AddCounts(families, delivery);
  AddTimes(families, delivery);
  AddWorkers(families, parts.workers());
  return families.Text();
}

}  // namespace breakwatch::api
