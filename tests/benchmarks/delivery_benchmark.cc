// Delivery of events to a stand-in for Loki: what refusals cost, and how fast a daemon catches up.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
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

bool all_met = true;

void Row(const char* what, double value, double goal, bool at_most) {
  const bool met = at_most ? value <= goal : value >= goal;
  all_met = all_met && met;
  std::printf("%-62s %12.0f   %s %.0f%s\n", what, value, at_most ? "at most" : "at least", goal, met ? "" : ": missed");
}

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
    pump_->Add(exporters::MakeLoki(options, net::MakeHttpSender("breakwatch/benchmark"), clock_), {.remote = true});
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
  // Runs until everything is delivered or dead. Returns the real time and the time on the clock together.
  Seconds Run() {
    const auto began = std::chrono::steady_clock::now();
    const SteadyTime before = clock_.Steady();
    for (SteadyTime next = pump_->Step(); next != SteadyTime::max(); next = pump_->Step()) clock_.AdvanceTo(next);
    return std::chrono::steady_clock::now() - began + (clock_.Steady() - before);
  }

  fakes::FakeClock clock_;
  std::filesystem::path folder_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<fakes::FakeLoki> loki_;
  std::unique_ptr<engine::DeliveryPump> pump_;
};

void TooOld(bool named) {
  World world({});
  constexpr int kOld = 10'000, kFresh = 100;
  world.Append(kOld);
  world.clock_.Advance(hours(8 * 24));
  world.Append(kFresh);
  if (!named) world.loki_->With([](fakes::LokiStore& store) { store.limits().hides_errors = true; });
  const Seconds took = world.Run();
  const auto stored = static_cast<double>(world.loki_->Entries().size());
  Row(named ? "pushes for 10,000 too old events" : "pushes for them if the server names none",
      static_cast<double>(world.loki_->Pushes()), named ? 300 : 12'000, true);
  if (named) Row("seconds until the fresh events were delivered", took.count(), 10, true);
  Row("  fresh events stored, missing or double", std::abs(stored - kFresh), 0, true);
  Row("  dead letters, missing", kOld - static_cast<double>(*world.store_->CountDeadLetters("loki")), 0, true);
}

void CatchUp() {
  fakes::LokiLimits limits;
  limits.rate_bytes = limits.stream_rate_bytes = 1e12;
  limits.burst_bytes = limits.stream_burst_bytes = SIZE_MAX / 2;
  World world(limits);
  constexpr int kEvents = 100'000;
  for (int i = 0; i < 10; ++i) world.Append(kEvents / 10);
  const Seconds took = world.Run();
  Row("events per second when catching up", kEvents / took.count(), 20'000, false);
  Row("  events missing or double", std::abs(static_cast<double>(world.loki_->Entries().size()) - kEvents), 0, true);
}

}  // namespace

int main() {
  TooOld(/*named=*/true);
  TooOld(/*named=*/false);
  CatchUp();
  return all_met ? 0 : 1;
}
