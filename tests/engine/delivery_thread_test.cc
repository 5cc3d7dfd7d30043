#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "breakwatch/engine/delivery.h"
#include "engine/support.h"
#include "fakes/fake_exporters.h"

namespace breakwatch::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kPatience{20};  // far longer than a test needs; no test waits that long

class DeliveryThreadTest : public ::testing::Test {
 protected:
  std::unique_ptr<DeliveryThread> Start(bool required = true) {
    auto metrics = std::make_unique<fakes::FakeMetricExporter>("metrics");
    auto events = std::make_unique<fakes::FakeEventExporter>("events");
    metrics_ = metrics.get();
    events_ = events.get();
    metrics_->down = events_->down = down_;
    DeliveryThread::Exporters exporters;
    exporters.metrics.push_back({std::move(metrics), required});
    exporters.events.push_back({std::move(events), {.required = required}});
    return std::make_unique<DeliveryThread>([this] { return OpenLog(); }, std::move(exporters), RealClock(),
                                            DeliveryOptions{});
  }
  // A session of the delivery thread's own.
  Result<std::unique_ptr<store::EventLog>> OpenLog() const {
    return std::unique_ptr<store::EventLog>(OpenStoreAt(folder_.Url(), RealClock()));
  }
  void Store(int n) {
    Event tick;
    tick.name = "tick";
    const std::vector<Event> events(static_cast<std::size_t>(n), tick);
    ASSERT_TRUE(store_->AppendEvents(events).ok());
  }

  TempFolder folder_;
  std::unique_ptr<store::Store> store_ = OpenStoreAt(folder_.Url(), RealClock());
  bool down_ = false;
  fakes::FakeMetricExporter* metrics_ = nullptr;
  fakes::FakeEventExporter* events_ = nullptr;
};

TEST_F(DeliveryThreadTest, DeliversEverythingBeforeADrainEnds) {
  auto delivery = Start();
  Store(2500);
  delivery->NotifyEvents();
  delivery->Publish(std::make_shared<Snapshot>(), false);
  delivery->Publish(std::make_shared<Snapshot>(), true);
  EXPECT_TRUE(delivery->Drain(kPatience).empty());
  EXPECT_EQ(events_->delivered.size(), 2500u);
  EXPECT_GE(metrics_->delivered.size(), 1u);
  ASSERT_EQ(delivery->Stats().size(), 2u);
  EXPECT_EQ(delivery->Stats()[1].events_pending, 0);
}

TEST_F(DeliveryThreadTest, NamesTheExportersThatDidNotAcceptEverythingInTime) {
  down_ = true;
  auto delivery = Start();
  Store(1);
  delivery->Publish(std::make_shared<Snapshot>(), true);
  EXPECT_EQ(delivery->Drain(milliseconds(50)), (std::vector<std::string>{"metrics", "events"}));
}

TEST_F(DeliveryThreadTest, EndsADrainOnAStopRequest) {
  down_ = true;
  auto delivery = Start();
  Store(1);
  delivery->Publish(std::make_shared<Snapshot>(), true);
  std::stop_source stop;
  stop.request_stop();
  const auto began = RealClock().Steady();
  EXPECT_EQ(delivery->Drain(kPatience, stop.get_token()), (std::vector<std::string>{"metrics", "events"}));
  EXPECT_LT(RealClock().Steady() - began, kPatience);
}

TEST_F(DeliveryThreadTest, DoesNotWaitForOptionalExporters) {
  down_ = true;
  auto delivery = Start(/*required=*/false);
  Store(1);
  delivery->Publish(std::make_shared<Snapshot>(), true);
  EXPECT_TRUE(delivery->Drain(kPatience).empty());
}

TEST_F(DeliveryThreadTest, DrainsAgainAndAgain) {
  auto delivery = Start();
  for (int i = 1; i <= 5; ++i) {
    Store(10);
    EXPECT_TRUE(delivery->Drain(kPatience).empty());
    EXPECT_EQ(events_->delivered.size(), static_cast<std::size_t>(10 * i));
  }
}

TEST_F(DeliveryThreadTest, EndsWithoutADrain) {
  down_ = true;
  auto delivery = Start();
  Store(10);
  delivery.reset();
  EXPECT_EQ(*store_->Cursor("events"), 0);
}

// Blocks its caller until it is released.
class StuckExporter : public MetricExporter {
 public:
  struct Gate {
    std::mutex mutex;
    std::condition_variable changed;
    bool entered = false, open = false;
  };
  explicit StuckExporter(Gate& gate) : gate_(gate) {}
  std::string Name() const override { return "stuck"; }
  Outcome Export(const Snapshot&) override {
    std::unique_lock lock(gate_.mutex);
    gate_.entered = true;
    gate_.changed.notify_all();
    gate_.changed.wait(lock, [this] { return gate_.open; });
    return {};
  }

 private:
  Gate& gate_;
};

TEST_F(DeliveryThreadTest, NeverBlocksThePublisher) {
  StuckExporter::Gate gate;
  DeliveryThread::Exporters exporters;
  exporters.metrics.push_back({std::make_unique<StuckExporter>(gate), true});
  DeliveryThread delivery([this] { return OpenLog(); }, std::move(exporters), RealClock(), DeliveryOptions{});
  delivery.Publish(std::make_shared<Snapshot>(), true);
  {
    std::unique_lock lock(gate.mutex);
    gate.changed.wait(lock, [&] { return gate.entered; });
  }
  for (int i = 0; i < 1000; ++i) delivery.Publish(std::make_shared<Snapshot>(), true), delivery.NotifyEvents();
  EXPECT_EQ(delivery.Drain(milliseconds(10)), (std::vector<std::string>{"stuck"}));
  {
    const std::lock_guard lock(gate.mutex);
    gate.open = true;
  }
  gate.changed.notify_all();
  EXPECT_TRUE(delivery.Drain(kPatience).empty());
}

}  // namespace
}  // namespace breakwatch::engine
