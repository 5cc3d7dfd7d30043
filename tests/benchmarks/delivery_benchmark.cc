// Delivery of events to a stand-in for Loki: what refusals cost, and how fast a daemon catches up.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "breakwatch/engine/delivery.h"
#include "breakwatch/exporters/loki.h"
#include "breakwatch/store/store.h"
#include "fakes/fake_clock.h"
#include "loki/fake_loki.h"

namespace {

using namespace breakwatch;
using std::chrono::hours;
using Seconds = std::chrono::duration<double>;

constexpr int kOld = 10'000, kFresh = 100;  // events that are older than the server accepts, and those behind them
int missed = 0;

void Row(const char* what, double value, double goal, bool at_most) {
  const bool met = at_most ? value <= goal : value >= goal;
  missed += met ? 0 : 1;
  std::printf("%-62s %12.0f   %s %.0f%s\n", what, value, at_most ? "at most" : "at least", goal, met ? "" : ": missed");
}

double ResidentMiB() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1u << 20);
}

// A server that nobody reaches while it is away.
class Line : public net::HttpSender {
 public:
  explicit Line(const bool& away) : away_(away) {}
  Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (away_) return Error{ErrorCode::kUnavailable, "no route to host", true};
    return sender_->Send(request);
  }

 private:
  const bool& away_;
  std::unique_ptr<net::HttpSender> sender_ = net::MakeHttpSender("breakwatch/benchmark");
};

// A store with events, a stand-in, and the daemon's delivery between them. The clock moves only with Run.
class World {
 public:
  explicit World(fakes::LokiLimits limits) {
    std::string pattern = (std::filesystem::temp_directory_path() / "breakwatch-delivery-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    auto opened = store::Store::Open({.url = "sqlite:" + (folder_ / "breakwatch.db").string()}, clock_);
    if (!opened) std::fprintf(stderr, "%s\n", opened.error().message.c_str()), std::exit(1);
    store_ = *std::move(opened);
    limits.clock = [this] { return clock_.Now().time_since_epoch().count(); };
    loki_ = std::make_unique<fakes::FakeLoki>(std::move(limits));
    pump_ = std::make_unique<engine::DeliveryPump>(*store_, clock_, engine::DeliveryOptions{});
    exporters::LokiOptions options;
    options.url = loki_->Url();
    pump_->Add(exporters::MakeLoki(options, std::make_unique<Line>(away_), clock_), {.remote = true});
  }
  ~World() {
    pump_.reset(), store_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Append(int count) {
    std::vector<Event> events(static_cast<std::size_t>(count));
    for (Event& event : events) {
      event = {"graph_break", Level::kInfo, "sweep-1", "org/model", std::string(40, 'a'), ""};
      event.fields_json = R"({"reason":"Unsupported method call","file":"modeling.py","line":120,"hints":")" +
                          std::string(120, 'x') + "\"}";
    }
    if (!store_->AppendEvents(events)) std::exit(1);
  }
  void AppendOldAndFresh() {
    Append(kOld);
    clock_.Advance(hours(8 * 24));
    Append(kFresh);
  }
  double DeadLetters() { return static_cast<double>(*store_->CountDeadLetters("loki")); }
  // Runs until everything is delivered or dead. Returns the real time and the time on the clock together.
  Seconds Run() {
    const auto began = std::chrono::steady_clock::now();
    const SteadyTime before = clock_.Steady();
    for (SteadyTime next = pump_->Step(); next != SteadyTime::max(); next = pump_->Step()) clock_.AdvanceTo(next);
    return std::chrono::steady_clock::now() - began + (clock_.Steady() - before);
  }

  // Runs what is due within `time`.
  void RunFor(std::chrono::nanoseconds time) {
    const SteadyTime end = clock_.Steady() + time;
    for (SteadyTime next = pump_->Step(); next <= end; next = pump_->Step()) clock_.AdvanceTo(next);
    clock_.AdvanceTo(end);
  }
  bool InOrder() const {
    std::int64_t last = 0;
    for (const auto& entry : loki_->Entries()) {
      if (entry.ts_ns <= last) return false;
      last = entry.ts_ns;
    }
    return true;
  }

  bool away_ = false;
  fakes::FakeClock clock_;
  std::filesystem::path folder_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<fakes::FakeLoki> loki_;
  std::unique_ptr<engine::DeliveryPump> pump_;
};

void TooOld() {
  World world({});
  world.AppendOldAndFresh();
  const Seconds took = world.Run();
  const auto stored = static_cast<double>(world.loki_->Entries().size());
  Row("pushes for 10,000 too old events", static_cast<double>(world.loki_->Pushes()), 300, true);
  Row("seconds until the fresh events were delivered", took.count(), 10, true);
  Row("  fresh events stored, missing or double", std::abs(stored - kFresh), 0, true);
  Row("  dead letters, missing", kOld - world.DeadLetters(), 0, true);
}

// Without a name, an answer may be about the whole push: the exporter pauses, and loses nothing.
void RefusedWithoutNames() {
  World world({});
  world.AppendOldAndFresh();
  world.loki_->With([](fakes::LokiStore& store) { store.limits().hides_errors = true; });
  world.RunFor(hours(1));
  Row("pushes in an hour to a server that refuses all and names none", static_cast<double>(world.loki_->Pushes()),
      7'000, true);
  Row("  dead letters", world.DeadLetters(), 0, true);
  world.loki_->With([](fakes::LokiStore& store) { store.limits().reject_older_than_ns *= 2; });
  world.clock_.Advance(std::chrono::minutes(1));  // the pause between two attempts
  world.Run();
  const auto stored = static_cast<double>(world.loki_->Entries().size());
  Row("  events missing or double once it accepts them", std::abs(stored - kOld - kFresh), 0, true);
}

// Loki is away for three days, in which there is a sweep each hour.
void CatchUp() {
  fakes::LokiLimits limits;
  limits.rate_bytes = limits.stream_rate_bytes = 1e12;
  limits.burst_bytes = limits.stream_burst_bytes = SIZE_MAX / 2;
  World world(limits);
  constexpr int kHours = 72, kSweep = 2'000, kEvents = kHours * kSweep;
  world.away_ = true;
  world.Append(kSweep);
  world.RunFor(hours(1));
  const double before = ResidentMiB();
  for (int hour = 1; hour < kHours; ++hour) world.Append(kSweep), world.RunFor(hours(1));
  Row("MiB of memory that 72 h without Loki take", ResidentMiB() - before, 8, true);
  Row("  events that are kept", static_cast<double>(world.pump_->Stats().front().events_pending), kEvents, false);
  world.away_ = false;
  world.clock_.Advance(std::chrono::minutes(1));  // the pause between two attempts
  const Seconds took = world.Run();
  Row("events per second when catching up", kEvents / took.count(), 20'000, false);
  Row("  events missing or double", std::abs(static_cast<double>(world.loki_->Entries().size()) - kEvents), 0, true);
  Row("  out of order", world.InOrder() ? 0 : 1, 0, true);
}

}  // namespace

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  TooOld();
  RefusedWithoutNames();
  CatchUp();
  std::printf("bench-delivery: %s\n", missed == 0 ? "all goals met" : (std::to_string(missed) + " missed").c_str());
  return missed == 0 ? 0 : 1;
}
