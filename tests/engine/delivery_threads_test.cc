#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "breakwatch/engine/delivery.h"
#include "engine/support.h"
#include "fakes/fake_exporters.h"

namespace breakwatch::engine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Contains;

constexpr seconds kPatience{20};  // far longer than a test needs; no test waits that long

class DeliveryThreadsTest : public ::testing::Test {
 protected:
  std::unique_ptr<DeliveryThreads> Start(bool required = true) {
    auto metrics = std::make_unique<fakes::FakeMetricExporter>("metrics");
    auto events = std::make_unique<fakes::FakeEventExporter>("events");
    metrics_ = metrics.get();
    events_ = events.get();
    metrics_->down = events_->down = down_;
    DeliveryThreads::Exporters exporters;
    exporters.metrics.push_back({std::move(metrics), required});
    exporters.events.push_back({std::move(events), {.required = required}});
    return std::make_unique<DeliveryThreads>([this] { return OpenLog(); }, std::move(exporters), RealClock(),
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

TEST_F(DeliveryThreadsTest, DeliversEverythingBeforeADrainEnds) {
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

TEST_F(DeliveryThreadsTest, NamesTheExportersThatDidNotAcceptEverythingInTime) {
  down_ = true;
  auto delivery = Start();
  Store(1);
  delivery->Publish(std::make_shared<Snapshot>(), true);
  EXPECT_EQ(delivery->Drain(milliseconds(50)), (std::vector<std::string>{"metrics", "events"}));
}

TEST_F(DeliveryThreadsTest, EndsADrainOnAStopRequest) {
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

TEST_F(DeliveryThreadsTest, DoesNotWaitForOptionalExportersThatFail) {
  down_ = true;
  auto delivery = Start(/*required=*/false);
  Store(1);
  delivery->Publish(std::make_shared<Snapshot>(), true);
  const auto began = RealClock().Steady();
  EXPECT_TRUE(delivery->Drain(kPatience).empty());
  EXPECT_LT(RealClock().Steady() - began, DeliveryOptions{}.optional_drain);
}

TEST_F(DeliveryThreadsTest, SendsWhatOptionalExportersAccept) {
  auto delivery = Start(/*required=*/false);
  Store(2500);
  delivery->Publish(std::make_shared<Snapshot>(), true);
  EXPECT_TRUE(delivery->Drain(kPatience).empty());
  EXPECT_EQ(events_->delivered.size(), 2500u);
  EXPECT_GE(metrics_->delivered.size(), 1u);
}

TEST_F(DeliveryThreadsTest, DrainsAgainAndAgain) {
  auto delivery = Start();
  for (int i = 1; i <= 5; ++i) {
    Store(10);
    EXPECT_TRUE(delivery->Drain(kPatience).empty());
    EXPECT_EQ(events_->delivered.size(), static_cast<std::size_t>(10 * i));
  }
}

TEST_F(DeliveryThreadsTest, EndsWithoutADrain) {
  down_ = true;
  auto delivery = Start();
  Store(10);
  delivery.reset();
  EXPECT_EQ(*store_->Cursor("events"), 0);
}

// Holds whoever enters until it is opened: a target that does not answer.
class Gate {
 public:
  void Enter() {
    std::unique_lock lock(mutex_);
    entered_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void AwaitEntry() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return entered_; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool entered_ = false, open_ = false;
};

class StuckMetrics : public MetricExporter {
 public:
  explicit StuckMetrics(Gate& gate) : gate_(gate) {}
  std::string Name() const override { return "stuck"; }
  Outcome Export(const Snapshot&) override { return gate_.Enter(), Outcome(); }

 private:
  Gate& gate_;
};

class StuckEvents : public EventExporter {
 public:
  explicit StuckEvents(Gate& gate) : gate_(gate) {}
  std::string Name() const override { return "stuck"; }
  Outcome Export(std::span<const StoredEvent>) override { return gate_.Enter(), Outcome(); }

 private:
  Gate& gate_;
};

class StuckTargetTest : public DeliveryThreadsTest {
 protected:
  // Beside the others, which are required.
  void StartWith(DeliveryThreads::Exporters exporters, milliseconds optional_drain = milliseconds(20)) {
    auto metrics = std::make_unique<fakes::FakeMetricExporter>("metrics");
    auto events = std::make_unique<fakes::FakeEventExporter>("events");
    metrics_ = metrics.get();
    events_ = events.get();
    exporters.metrics.push_back({std::move(metrics)});
    exporters.events.push_back({std::move(events)});
    DeliveryOptions options;
    options.optional_drain = optional_drain;
    delivery_ = std::make_unique<DeliveryThreads>([this] { return OpenLog(); }, std::move(exporters), RealClock(),
                                                  std::move(options));
    Store(5);
    delivery_->NotifyEvents();
    delivery_->Publish(std::make_shared<Snapshot>(), true);
    gate_.AwaitEntry();
  }
  void TearDown() override {
    gate_.Open();
    delivery_.reset();
  }

  Gate gate_;
  std::unique_ptr<DeliveryThreads> delivery_;
};

TEST_F(StuckTargetTest, OfMetricsDelaysNeitherEventsNorOtherMetrics) {
  DeliveryThreads::Exporters exporters;
  exporters.metrics.push_back({std::make_unique<StuckMetrics>(gate_), /*required=*/false});
  StartWith(std::move(exporters));
  EXPECT_TRUE(delivery_->Drain(kPatience).empty());
  EXPECT_EQ(events_->delivered.size(), 5u);
  EXPECT_EQ(metrics_->delivered.size(), 1u);
}

TEST_F(StuckTargetTest, OfEventsDelaysNeitherMetricsNorOtherEvents) {
  DeliveryThreads::Exporters exporters;
  exporters.events.push_back({std::make_unique<StuckEvents>(gate_), {.required = false}});
  StartWith(std::move(exporters));
  EXPECT_TRUE(delivery_->Drain(kPatience).empty());
  EXPECT_EQ(events_->delivered.size(), 5u);
  EXPECT_EQ(metrics_->delivered.size(), 1u);
  EXPECT_EQ(*store_->Cursor("stuck"), 0);
  gate_.Open();
  EXPECT_TRUE(delivery_->Drain(kPatience).empty());
}

TEST_F(StuckTargetTest, IsWaitedForOnce) {
  DeliveryThreads::Exporters exporters;
  exporters.events.push_back({std::make_unique<StuckEvents>(gate_), {.required = false}});
  StartWith(std::move(exporters), seconds(1));
  EXPECT_TRUE(delivery_->Drain(kPatience).empty());
  const auto began = RealClock().Steady();
  EXPECT_TRUE(delivery_->Drain(kPatience).empty());
  EXPECT_LT(RealClock().Steady() - began, seconds(1));
}

TEST_F(StuckTargetTest, NeverBlocksThePublisher) {
  DeliveryThreads::Exporters exporters;
  exporters.metrics.push_back({std::make_unique<StuckMetrics>(gate_), /*required=*/true});
  StartWith(std::move(exporters));
  for (int i = 0; i < 1000; ++i) delivery_->Publish(std::make_shared<Snapshot>(), true), delivery_->NotifyEvents();
  EXPECT_THAT(delivery_->Drain(milliseconds(10)), Contains("stuck"));
  gate_.Open();
  EXPECT_TRUE(delivery_->Drain(kPatience).empty());
}

}  // namespace
}  // namespace breakwatch::engine
