// What targets accept, refuse or miss: sweeps whose delivery fails, dead letters, `events status`, and standard output.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "breakwatch/store/writer_lock.h"
#include "commands/command_fixture.h"
#include "fakes/environment_variable.h"

namespace breakwatch::commands {
namespace {

const Outcome kRefusal{Delivery::kRefused, "400 entry too far behind", {}, /*names_events=*/true};
const Outcome kAway{Delivery::kTryAgain, "connection refused", {}, false};

class DeliveringSweepTest : public CommandTest {
 protected:
  DeliveringSweepTest() { HubLists({FakeModel("org/a", 1, Config(1))}); }
};

TEST_F(DeliveringSweepTest, IsIncompleteIfATargetRefuses) {
  metrics_->AnswerAlways(kRefusal);
  const Ran ran = Run("sweep");
  EXPECT_THAT(ran, Fails(kExitIncomplete, "pushgateway did not accept everything"));
  EXPECT_THAT(ran.err, HasSubstr("400 entry too far behind"));
  EXPECT_THAT(ran.out, HasSubstr("1 full_graph")) << "the sweep itself is whole";
}

TEST_F(DeliveringSweepTest, IsIncompleteIfATargetIsAwayAndTheNextRunDelivers) {
  events_->AnswerAlways(kAway);
  EXPECT_THAT(Run("sweep --delivery.drain_timeout 1ms"), Fails(kExitIncomplete, "loki did not accept everything"));
  EXPECT_TRUE(events_->Events().empty());
  events_->AnswerAlways({});
  EXPECT_THAT(Run("sweep"), Succeeds());
  EXPECT_EQ(events_->Events().front().id, 1);
}

TEST_F(DeliveringSweepTest, SucceedsIfATargetThatIsNotRequiredRefuses) {
  required_ = false;
  metrics_->AnswerAlways(kRefusal);
  EXPECT_THAT(Run("sweep"), Succeeds());
}

TEST_F(DeliveringSweepTest, UsesThePushgatewayOfThisMachineIfItIsTold) {
  answer_ = [](const net::HttpRequest&) { return net::HttpResponse{200, {}, R"({"build_information": {}})"}; };
  const Ran ran = Run("sweep --local-gateway");
  EXPECT_THAT(ran, Prints("http://127.0.0.1:9091/metrics"));
  EXPECT_THAT(ran.err, HasSubstr("using the one on http://127.0.0.1:9091"));
}

TEST_F(DeliveringSweepTest, LeavesAnotherServerAtThePortOfThePushgatewayAlone) {
  answer_ = [](const net::HttpRequest&) { return net::HttpResponse{404, {}, ""}; };
  const Ran ran = Run("sweep --local-gateway");
  EXPECT_THAT(ran, Prints("not pushed"));
  EXPECT_THAT(ran.err, HasSubstr("127.0.0.1:9091 is in use"));
}

TEST_F(DeliveringSweepTest, WarnsIfNoPushgatewayIsInstalled) {
  const fakes::EnvironmentVariable path("PATH", folder_.path().string());
  const Ran ran = Run("sweep --local-gateway");
  EXPECT_THAT(ran, Prints("not pushed"));
  EXPECT_THAT(ran.err, HasSubstr("prometheus-pushgateway does not start"));
}

TEST_F(DeliveringSweepTest, AsksForNoLocalPushgatewayIfOneIsConfigured) {
  answer_ = [](const net::HttpRequest& request) -> Result<net::HttpResponse> {
    ADD_FAILURE() << request.url;
    return net::HttpResponse{};
  };
  EXPECT_THAT(Run("sweep --local-gateway --exporters.pushgateway.url http://gateway.test"),
              Prints("http://gateway.test/metrics, job breakwatch"));
}

TEST_F(DeliveringSweepTest, FailsIfItsOutputCannotBeWritten) {
  standard_output_ = std::fopen("/dev/full", "w");
  ASSERT_NE(standard_output_, nullptr);
  EXPECT_THAT(Run("sweep --quiet"), Fails(kExitStore, "cannot write to standard output"));
  EXPECT_THAT(Run("version"), Fails(kExitStore, "cannot write to standard output"));
  EXPECT_THAT(Run("show org/none"), EndsWith(kExitUsage)) << "nothing was to be printed";
  std::fclose(standard_output_);
  EXPECT_EQ(Statuses().at("org/a"), "full_graph");
}

TEST_F(DeliveringSweepTest, SucceedsIfItsReaderClosesThePipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  standard_output_ = fdopen(ends[1], "w");
  const Ran ran = Run("sweep --quiet");
  EXPECT_THAT(ran, Succeeds());
  EXPECT_EQ(ran.err, "");
  std::fclose(standard_output_);
}

// A sweep of two models whose first two events a target refused.
class DeadLettersTest : public CommandTest {
 protected:
  void SetUp() override {
    settings_ = {"--exporters.loki.url", "http://loki.test", "--exporters.file.enabled=false"};
    HubLists({FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2))});
    ASSERT_THAT(Run("sweep"), Succeeds());
    Refuse("loki");
    sent_ = events_->Events().size();
  }
  void Refuse(const std::string& exporter) {
    const auto store = Store();
    for (const StoredEvent& event : *store->EventsAfter(0, 2, 1 << 20)) {
      ASSERT_TRUE(store->BuryEvent(exporter, event, "400 entry too far behind").ok());
    }
    ASSERT_TRUE(store->SetCursor(exporter, *store->NewestEventId()).ok());
  }
  std::vector<std::int64_t> Letters() {
    std::vector<std::int64_t> ids;
    for (const auto& row : RunJson("dead-letters list")) ids.push_back(row["event_id"]);
    return ids;
  }
  // Ids of the events that were sent since.
  std::vector<std::int64_t> Resent() {
    std::vector<std::int64_t> ids;
    const auto events = events_->Events();
    for (std::size_t i = sent_; i < events.size(); ++i) ids.push_back(events[i].id);
    return ids;
  }

  std::size_t sent_ = 0;
};

using Ids = std::vector<std::int64_t>;

TEST_F(DeadLettersTest, AreListedWithTheAnswerToThem) {
  const Ran ran = Run("dead-letters list");
  EXPECT_THAT(ran, Prints("400 entry too far behind"));
  EXPECT_THAT(ran, Prints("sweep_started"));
  const auto rows = RunJson("dead-letters list");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["exporter"], "loki");
  EXPECT_EQ(rows[0]["state"], "dead");
  EXPECT_EQ(rows[0]["reason"], "400 entry too far behind");
  EXPECT_THAT(Run("dead-letters list --exporter file"), Prints("no dead letters"));
}

TEST_F(DeadLettersTest, AreMoreThanAListShows) {
  const Ran ran = Run("dead-letters list --limit 1 --json");
  EXPECT_EQ(ran.Json().size(), 1u);
  EXPECT_THAT(ran.err, HasSubstr("--limit"));
}

TEST_F(DeadLettersTest, AreShownWithTheirEvent) {
  EXPECT_THAT(Run("dead-letters show 1"), Prints("400 entry too far behind"));
  const auto shown = RunJson("dead-letters show 1 2");
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[1]["event_id"], 2);
  EXPECT_EQ(shown[1]["event"]["event_id"], 2);
}

TEST_F(DeadLettersTest, AreSelectedByIdOrAllTogether) {
  for (const char* command : {"show", "retry", "drop"}) {
    const std::string words = std::string("dead-letters ") + command;
    EXPECT_THAT(Run(words), Fails(kExitUsage, "--all"));
    EXPECT_THAT(Run(words + " 1 --all"), Fails(kExitUsage, "--all"));
    EXPECT_THAT(Run(words + " 0"), EndsWith(kExitUsage));
    EXPECT_THAT(Run(words + " 999"), Fails(kExitFailure, "event 999 is not a dead letter"));
    EXPECT_THAT(Run(words + " 1 --exporter file"), Fails(kExitFailure, "not a dead letter of file"));
  }
  EXPECT_EQ(Letters(), (Ids{1, 2}));
}

TEST_F(DeadLettersTest, AreSentAgainInOrderWithTheirIds) {
  EXPECT_THAT(Run("dead-letters retry 2 1"), Prints("2 delivered, 0 refused again"));
  EXPECT_EQ(Resent(), (Ids{1, 2}));
  EXPECT_EQ(Letters(), Ids{});
  EXPECT_THAT(Run("dead-letters retry --all"), Succeeds());
}

TEST_F(DeadLettersTest, RemainIfTheyAreRefusedAgain) {
  events_->AnswerAlways(kRefusal);
  EXPECT_THAT(RunJson("dead-letters retry --all", kExitIncomplete),
              (nlohmann::json{{"queued", 2}, {"delivered", 0}, {"refused", 2}, {"waiting", 0}}));
  EXPECT_EQ(Letters(), (Ids{1, 2}));
}

TEST_F(DeadLettersTest, WaitIfTheirTargetIsAway) {
  events_->AnswerAlways(kAway);
  const auto retried = RunJson("dead-letters retry 1 --delivery.drain_timeout 1ms", kExitIncomplete);
  EXPECT_EQ(retried["waiting"], 1);
  EXPECT_EQ(RunJson("dead-letters list")[0]["state"], "queued");
}

TEST_F(DeadLettersTest, WaitIfTheirExporterIsNotConfigured) {
  Refuse("file");
  const Ran ran = Run("dead-letters retry --exporter file --all");
  EXPECT_THAT(ran, Fails(kExitIncomplete, "no such exporter is configured: file"));
  EXPECT_EQ(Resent(), Ids{});
}

TEST_F(DeadLettersTest, AreLeftToADaemonThatRuns) {
  const auto lock = store::WriterLock::Take(StateDir());
  ASSERT_TRUE(lock.ok());
  EXPECT_THAT(Run("dead-letters retry --all"), Prints("2 dead letters queued; the daemon"));
  EXPECT_EQ(Resent(), Ids{});
}

TEST_F(DeadLettersTest, AreDroppedOneByOneAndAllTogether) {
  EXPECT_EQ(RunJson("dead-letters drop 1"), (nlohmann::json{{"dropped", 1}}));
  EXPECT_EQ(Letters(), Ids{2});
  EXPECT_THAT(Run("dead-letters drop --exporter loki --all"), Prints("1 dead letter dropped"));
  EXPECT_THAT(Run("dead-letters list"), Prints("no dead letters"));
}

TEST_F(DeadLettersTest, AreExportedAsJsonLines) {
  const auto shown = RunJson("dead-letters show --all");
  const std::string path = (folder_.path() / "refused.jsonl").string();
  EXPECT_THAT(Run("dead-letters export --all --output " + path), Succeeds());
  std::ifstream file(path);
  nlohmann::json exported = nlohmann::json::array();
  for (std::string line; std::getline(file, line);) exported.push_back(nlohmann::json::parse(line));
  EXPECT_EQ(exported, shown);
  EXPECT_EQ(nlohmann::json::parse(Run("dead-letters export 2").out), shown[1]);
  EXPECT_THAT(Run("dead-letters export --all --output " + path + "/none"), Fails(kExitStore, "cannot write"));
  EXPECT_THAT(Run("dead-letters export"), Fails(kExitUsage, "--all"));
}

class EventsStatusTest : public DeadLettersTest {
 protected:
  nlohmann::json RowOf(const std::string& exporter) {
    for (const auto& row : RunJson("events status")) {
      if (row["exporter"] == exporter) return row;
    }
    ADD_FAILURE() << exporter;
    return {};
  }
};

TEST_F(EventsStatusTest, CountsWhatATargetRefused) {
  EXPECT_EQ(RowOf("loki")["state"], "ok");
  EXPECT_EQ(RowOf("loki")["dead_letters"], 2);
  EXPECT_EQ(RowOf("loki")["cursor"], RowOf("loki")["newest_event"]);
}

TEST_F(EventsStatusTest, PrintsTheAgeOfTheOldestPendingEvent) {
  Event tick;
  tick.name = "tick";
  ASSERT_TRUE(Store()->AppendEvents(std::vector<Event>(3, tick)).ok());
  clock_.Advance(std::chrono::minutes(91));
  EXPECT_EQ(RowOf("loki")["state"], "pending");
  EXPECT_EQ(RowOf("loki")["pending"], 3);
  EXPECT_NEAR(RowOf("loki")["oldest_age_s"].get<double>(), 5460, 1);
  EXPECT_THAT(Run("events status"), Prints("90 min"));
}

TEST_F(EventsStatusTest, PrintsTheAnswerThatPausedAnExporter) {
  ASSERT_TRUE(Store()->SetPaused("loki", "400 structured metadata is disallowed").ok());
  EXPECT_EQ(RowOf("loki")["state"], "paused");
  EXPECT_THAT(Run("events status"), Prints("400 structured metadata is disallowed"));
}

TEST_F(EventsStatusTest, PrintsTheLastError) {
  EXPECT_TRUE(RowOf("loki")["last_error"].is_null());
  ASSERT_TRUE(Store()->SetLastError("loki", "push to Loki: 503, busy").ok());
  EXPECT_EQ(RowOf("loki")["last_error"], "push to Loki: 503, busy");
  EXPECT_TRUE(RowOf("loki")["last_error_at"].is_string());
}

TEST_F(EventsStatusTest, ListsAnExporterThatIsNoLongerConfigured) {
  settings_ = {"--exporters.file.enabled=false"};
  EXPECT_EQ(RowOf("loki")["state"], "not configured");
}

}  // namespace
}  // namespace breakwatch::commands
