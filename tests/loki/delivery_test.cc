// Delivery to a Loki with its real limits: what the store has, Loki has once, or it is a dead letter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "breakwatch/exporters/loki.h"
#include "engine/delivery_fixture.h"
#include "loki/fake_loki.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeLoki;
using fakes::LokiStore;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;
using EventIds = std::vector<std::int64_t>;

breakwatch::testing::Reply HangUp() {
  breakwatch::testing::Reply reply;
  reply.hang_up = true;
  return reply;
}

class LokiDeliveryTest : public DeliveryTest {
 protected:
  void Start() {
    options_.linger = std::chrono::milliseconds(0);
    limits_.clock = [this] { return clock_.Now().time_since_epoch().count(); };
    loki_ = std::make_unique<FakeLoki>(limits_);
    loki_options_.url = loki_->Url();
    loki_options_.environment = "test";
    loki_options_.timeout = seconds(30);
    Connect();
  }
  // A daemon that has just started.
  void Connect() {
    pump_.reset();
    Pump().Add(exporters::MakeLoki(loki_options_, net::MakeHttpSender("breakwatch/test"), clock_), {.remote = true});
  }
  // Lines of `bytes` and a bit more.
  void StoreLines(int n, std::size_t bytes = 200) {
    std::vector<Event> events(static_cast<std::size_t>(n));
    for (Event& event : events) {
      event = {"graph_break", Level::kInfo, "sweep-1", "org/model", std::string(40, 'a'), ""};
      event.fields_json = R"({"text":")" + std::string(bytes, 'x') + "\"}";
    }
    ASSERT_TRUE(store_->AppendEvents(events).ok());
  }
  // The ids of all entries that a query returns, in order.
  EventIds Queried() {
    loki_->With([](LokiStore& store) { store.limits().may_query = true; });
    EventIds ids;
    std::string start = "0";
    const auto sender = net::MakeHttpSender("breakwatch/test");
    for (;;) {
      net::HttpRequest request;
      request.url =
          loki_->Url() + "/loki/api/v1/query_range?query=%7Benvironment%3D%22test%22%7D&limit=5000&start=" + start;
      const auto answer = sender->Send(request);
      EXPECT_TRUE(answer.ok());
      std::multimap<std::int64_t, std::int64_t> page;
      const auto document = nlohmann::json::parse(answer->body);
      for (const auto& stream : document["data"]["result"]) {
        for (const auto& value : stream["values"]) {
          page.emplace(std::stoll(value[0].get<std::string>()),
                       nlohmann::json::parse(value[1].get<std::string>())["event_id"].get<std::int64_t>());
        }
      }
      for (const auto& [ts, id] : page) ids.push_back(id);
      if (page.size() < 5000) return ids;
      start = std::to_string(page.rbegin()->first + 1);
    }
  }
  EventIds Letters() {
    EventIds ids;
    for (const auto& letter : *store_->DeadLetters({.exporter = "loki"}, 100'000)) ids.push_back(letter.event.id);
    return ids;
  }
  // All events, in order, without those of `without`.
  EventIds Stored(const EventIds& without = {}) {
    EventIds ids;
    const std::set<std::int64_t> left_out(without.begin(), without.end());
    for (std::int64_t id = 1; id <= *store_->NewestEventId(); ++id) {
      if (!left_out.contains(id)) ids.push_back(id);
    }
    return ids;
  }
  void TearDown() override {
    if (HasFailure()) std::cout << ::testing::PrintToString(reports_) << "\n";
  }

  fakes::LokiLimits limits_;
  exporters::LokiOptions loki_options_;
  std::unique_ptr<FakeLoki> loki_;
};

TEST_F(LokiDeliveryTest, StoresEverythingOnceAndInOrder) {
  Start();
  StoreLines(2000);
  Run();
  EXPECT_EQ(Queried(), Stored());
  EXPECT_GE(loki_->Pushes(), 8u);
  EXPECT_LE(loki_->Pushes(), 20u) << "64 KiB each";
}

// At every place of a block: a batch of which a part is in a block that was cut is not folded.
TEST_F(LokiDeliveryTest, LeavesNoDuplicateAfterALostAnswer) {
  Start();
  for (int batch = 0; batch < 24; ++batch) {
    loki_->LoseNext(batch % 2 == 0 ? HangUp() : breakwatch::testing::Reply{500, {}, "internal error"});
    StoreLines(100);
    Run(seconds(10));
  }
  EXPECT_EQ(Queried(), Stored());
  EXPECT_TRUE(Letters().empty());
}

TEST_F(LokiDeliveryTest, FoldsALostAnswerWithinABlockWhereItMayNotQuery) {
  limits_.may_query = false;
  Start();
  loki_->LoseNext(HangUp());
  StoreLines(200);
  Run(seconds(10));
  EXPECT_EQ(Queried(), Stored());
}

TEST_F(LokiDeliveryTest, FindsOutWhatLokiRefusedIfTheAnswerDoesNotNameIt) {
  limits_.poison = R"("event_id":77,)";
  Start();
  StoreLines(150);
  Run();
  EXPECT_EQ(Letters(), EventIds{77});
  EXPECT_EQ(Queried(), Stored({77}));
  EXPECT_EQ(loki_->Pushes(), 1u);
}

TEST_F(LokiDeliveryTest, BisectsAndFoldsIfTheAnswerNamesNothingAndItMayNotQuery) {
  limits_.poison = R"("event_id":77,)";
  limits_.may_query = false;
  Start();
  StoreLines(150);
  Run();
  EXPECT_EQ(Letters(), EventIds{77});
  EXPECT_EQ(Queried(), Stored({77}));
}

TEST_F(LokiDeliveryTest, MakesThreePoisonedLinesOfFiveThousandDeadLetters) {
  limits_.max_line_bytes = 10'000;
  Start();
  for (const int more : {1200, 1900, 1897}) StoreLines(more), StoreLines(1, 20'000);
  Run();
  EXPECT_EQ(Letters(), (EventIds{1201, 3102, 5000}));
  EXPECT_EQ(Queried(), Stored(Letters()));
  EXPECT_EQ(Queried().size(), 4997u);
  EXPECT_THAT(store_->DeadLetters({}, 1)->at(0).reason, HasSubstr("Max entry size '10000' bytes exceeded"));
  EXPECT_EQ(StatsOf("loki").dead_letters, 3);
}

TEST_F(LokiDeliveryTest, BuriesWhatIsTooFarBehindAndStoresTheRestOnce) {
  Start();
  StoreLines(300);
  clock_.Advance(hours(2));
  StoreLines(50);
  ASSERT_TRUE(store_->SetCursor("loki", 300).ok());
  Run();
  ASSERT_EQ(Queried().size(), 50u);
  ASSERT_TRUE(store_->SetCursor("loki", 0).ok());
  Connect();
  Run();
  EXPECT_EQ(Queried().size(), 50u) << "sent again, and folded";
  EXPECT_EQ(Letters().size(), 300u);
  EXPECT_EQ(Letters().back(), 300);
  EXPECT_THAT(store_->DeadLetters({}, 1)->at(0).reason, HasSubstr("entry too far behind"));
}

TEST_F(LokiDeliveryTest, BuriesTenThousandEventsThatAreTooOldInFewPushesAndSendsTheFreshOnes) {
  Start();
  StoreLines(10'000);
  clock_.Advance(hours(8 * 24));
  StoreLines(100);
  const SteadyTime before = clock_.Steady();
  Run(seconds(10));
  EXPECT_EQ(Letters().size(), 10'000u);
  EXPECT_EQ(Queried(), Stored(Letters()));
  EXPECT_EQ(Queried().size(), 100u);
  EXPECT_LE(loki_->Pushes(), 5u) << "the first answer tells the limit";
  EXPECT_LE(clock_.Steady() - before, seconds(10));
}

TEST_F(LokiDeliveryTest, AsksAgainWhatIsTooOldBecauseLokisLimitMayChange) {
  Start();
  StoreLines(10);
  clock_.Advance(hours(8 * 24));
  Run();
  ASSERT_EQ(Letters().size(), 10u);
  loki_->With([](LokiStore& store) { store.limits().reject_older_than_ns *= 2; });
  clock_.Advance(seconds(61));
  ASSERT_EQ(*store_->QueueDeadLetters({}), 10);
  Run();
  EXPECT_EQ(Queried(), Stored());
}

TEST_F(LokiDeliveryTest, SendsNothingOlderThanTheConfiguredAge) {
  loki_options_.max_age = hours(1);
  Start();
  StoreLines(10);
  clock_.Advance(hours(2));
  StoreLines(10);
  Run();
  EXPECT_EQ(Letters(), (EventIds{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(Queried(), Stored(Letters()));
  EXPECT_THAT(store_->DeadLetters({}, 1)->at(0).reason, HasSubstr("older than exporters.loki.max_age"));
}

TEST_F(LokiDeliveryTest, DropsWhatIsTooOldIfConfiguredAndSaysSoOnce) {
  loki_options_.too_old = exporters::TooOld::kDrop;
  Start();
  StoreLines(1000);
  clock_.Advance(hours(8 * 24));
  StoreLines(10);
  Run();
  EXPECT_TRUE(Letters().empty());
  EXPECT_EQ(Queried().size(), 10u);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_THAT(reports_[0], HasSubstr("loki: drops events that are too old"));
}

TEST_F(LokiDeliveryTest, RestampsWhatIsTooOldIfConfiguredAndKeepsItsOrder) {
  loki_options_.too_old = exporters::TooOld::kRestamp;
  Start();
  StoreLines(1000);
  clock_.Advance(hours(8 * 24));
  StoreLines(10);
  loki_->LoseNext(HangUp());
  Run(seconds(10));
  EXPECT_TRUE(Letters().empty());
  EXPECT_EQ(Queried(), Stored());
  EXPECT_EQ(loki_->Entries()[0].line, store_->EventsAfter(0, 1, 1)->front().line) << "with its own time";
}

TEST_F(LokiDeliveryTest, RestampsWhatIsTooFarBehindItsStream) {
  loki_options_.too_old = exporters::TooOld::kRestamp;
  Start();
  StoreLines(300);
  clock_.Advance(hours(3));
  StoreLines(10);
  ASSERT_TRUE(store_->SetCursor("loki", 300).ok());
  Run();
  ASSERT_TRUE(store_->SetCursor("loki", 0).ok());
  Connect();
  Run();
  EXPECT_TRUE(Letters().empty());
  auto found = Queried();
  std::ranges::sort(found);
  EXPECT_EQ(found, Stored());
}

TEST_F(LokiDeliveryTest, TurnsStructuredMetadataOffIfLokiRefusesIt) {
  limits_.allow_metadata = false;
  Start();
  StoreLines(300);
  Run();
  EXPECT_EQ(Queried(), Stored());
  EXPECT_TRUE(Letters().empty());
  EXPECT_TRUE(loki_->Entries()[0].metadata.empty());
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_THAT(reports_[0], HasSubstr("Loki refuses structured metadata; events are sent without it from now on"));
}

TEST_F(LokiDeliveryTest, TurnsStructuredMetadataOffIfItHasTooManyEntries) {
  limits_.max_metadata_entries = 2;
  Start();
  StoreLines(20);
  Store(5);  // without metadata of a model
  Run();
  EXPECT_EQ(Queried(), Stored());
  EXPECT_THAT(reports_.at(0), HasSubstr("too many structured metadata labels"));
}

TEST_F(LokiDeliveryTest, PausesIfMetadataIsRequiredAndRefused) {
  limits_.allow_metadata = false;
  loki_options_.structured_metadata = exporters::StructuredMetadata::kOn;
  Start();
  StoreLines(20);
  Run();
  EXPECT_TRUE(StatsOf("loki").paused);
  EXPECT_TRUE(Letters().empty());
}

TEST_F(LokiDeliveryTest, PassesABurstThatIsSmallerThanABatch) {
  limits_.burst_bytes = 20'000;
  limits_.rate_bytes = 10'000;
  Start();
  StoreLines(300);
  Run(std::chrono::minutes(30));
  EXPECT_EQ(Queried(), Stored());
  EXPECT_TRUE(Letters().empty());
}

// As three days of sweeps do it, one each hour.
TEST_F(LokiDeliveryTest, LosesNothingInThreeDaysWithoutLoki) {
  options_.max_backoff = std::chrono::minutes(10);
  Start();
  StoreLines(50);
  Run();
  loki_->With([](LokiStore& store) { store.limits().away = true; });
  for (int hour = 0; hour < 72; ++hour) StoreLines(50), Run(hours(1));
  EXPECT_EQ(StatsOf("loki").events_pending, 72 * 50);
  EXPECT_GE(StatsOf("loki").oldest_age, hours(71));
  loki_->With([](LokiStore& store) { store.limits().away = false; });
  Run(std::chrono::minutes(11));
  EXPECT_EQ(Queried(), Stored()) << "in order";
  EXPECT_TRUE(Letters().empty());
  ASSERT_EQ(reports_.size(), 2u);
  EXPECT_THAT(reports_[0], HasSubstr("loki: failed, will retry"));
  EXPECT_EQ(reports_[1], "loki: works again");
}

TEST_F(LokiDeliveryTest, DelaysNothingForAPoisonedEventAtTheHead) {
  limits_.poison = R"("event_id":1,)";
  limits_.may_query = false;
  Start();
  StoreLines(2000);
  Run();
  EXPECT_EQ(Letters(), EventIds{1});
  EXPECT_EQ(Queried(), Stored({1}));
  EXPECT_LE(loki_->Pushes(), 40u);
}

// Any faults in any order: what the store has, Loki has exactly once, or it is a dead letter that says why.
class LokiFaultsTest : public LokiDeliveryTest, public ::testing::WithParamInterface<unsigned> {
 protected:
  int Pick(int n) { return std::uniform_int_distribution(0, n - 1)(random_); }
  void Fault() {
    using breakwatch::testing::Reply;
    const auto limits = [this](auto change) { loki_->With([&](LokiStore& store) { change(store.limits()); }); };
    switch (Pick(10)) {
      case 0:
        return loki_->LoseNext(HangUp());
      case 1:
        return loki_->LoseNext({500, {}, "rpc error: code = Unavailable"});
      case 2:
        return loki_->LoseNext({200, {{"Content-Type", "text/html"}}, "<html>"});
      case 3:
        return loki_->AnswerNext({503, {{"Retry-After", "1"}}, "busy"});
      case 4:
        return loki_->AnswerNext({429, {}, "Ingestion rate limit exceeded"});
      case 5:
        return loki_->AnswerNext(HangUp());
      case 6:
        return loki_->With([](LokiStore& store) { store.CutBlocks(); });
      case 7:
        return limits([this](fakes::LokiLimits& l) { l.allow_metadata = Pick(2) == 0; });
      case 8:
        return Connect();
      default:
        return limits([this](fakes::LokiLimits& l) { l.poison = "\"event_id\":" + std::to_string(Pick(3000)) + ","; });
    }
  }
  std::minstd_rand random_{GetParam()};
};

TEST_P(LokiFaultsTest, LeaveEachEventOnceInLokiOrAsADeadLetter) {
  limits_.max_line_bytes = 5'000;
  Start();
  for (int round = 0; round < 40; ++round) {
    for (int faults = Pick(3); faults > 0; --faults) Fault();
    StoreLines(1 + Pick(80), 50 + static_cast<std::size_t>(Pick(1000)));
    if (Pick(4) == 0) StoreLines(1, 6'000);
    Run(seconds(Pick(20)));
  }
  loki_->With([](LokiStore& store) { store.limits().poison.clear(); });
  Run(std::chrono::minutes(30));
  EXPECT_TRUE(Pump().Pending().empty());
  EXPECT_EQ(Queried(), Stored(Letters()));
  for (const auto& letter : *store_->DeadLetters({}, 1000)) {
    EXPECT_TRUE(letter.event.line.size() > 5'000 || letter.reason.find("some entries") != std::string::npos)
        << letter.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LokiFaultsTest, ::testing::Range(1u, 7u));

TEST_F(LokiDeliveryTest, NamesAnotherDaemonOnTheSameStreamAndTheFix) {
  Start();
  StoreLines(5);
  Run();
  loki_->With([&](LokiStore& store) {
    const auto now = (clock_.Now() + hours(3)).time_since_epoch().count();
    store.limits().grace_ns *= 100;
    store.Push({{{{"environment", "test"}, {"service_name", "breakwatch"}}, {{now, R"({"event_id":0})", {}}}}});
  });
  StoreLines(5);
  Run();
  EXPECT_EQ(Letters().size(), 5u);
  ASSERT_FALSE(reports_.empty());
  EXPECT_THAT(reports_[0], HasSubstr("set a different exporters.loki.pool in each"));
}

}  // namespace
}  // namespace breakwatch::engine
