#include "breakwatch/exporters/loki.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/core/event.h"
#include "fakes/bad_answers.h"
#include "fakes/fake_clock.h"
#include "loki/fake_loki.h"

namespace breakwatch::exporters {
namespace {

using breakwatch::testing::Reply;
using fakes::FakeLoki;
using fakes::LokiEntry;
using fakes::LokiLimits;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::int64_t kNow = 1'763'690'000'000'000'000;

StoredEvent MakeEvent(std::int64_t id, std::size_t padding = 0) {
  Event event{"graph_break", Level::kInfo, "sweep-1", "org/model", std::string(40, 'a'), ""};
  if (padding > 0) event.fields_json = R"({"text":")" + std::string(padding, 'x') + "\"}";
  const std::int64_t ts = kNow + id;
  return {id, ts, event.sweep_id, event.model, event.commit, ComposeLine(event, id, ts)};
}

std::vector<StoredEvent> MakeEvents(std::int64_t first, std::int64_t last, std::size_t padding = 0) {
  std::vector<StoredEvent> events;
  for (std::int64_t id = first; id <= last; ++id) events.push_back(MakeEvent(id, padding));
  return events;
}

class LokiTest : public ::testing::Test {
 protected:
  void Start() {
    limits.now_ns = kNow;
    loki = std::make_unique<FakeLoki>(limits);
    options.url = loki->Url() + "/";
    exporter = MakeLoki(options, net::MakeHttpSender("breakwatch/test"), clock);
  }
  Outcome Export(const std::vector<StoredEvent>& events) { return exporter->Export(events); }
  // The requests except queries.
  std::vector<breakwatch::testing::SeenRequest> Pushes() {
    auto requests = loki->Requests();
    std::erase_if(requests, [](const auto& request) { return request.method != "POST"; });
    return requests;
  }
  Outcome ExportWith(Reply reply) {
    loki->AnswerNext(std::move(reply));
    return Export(MakeEvents(1, 1));
  }
  fakes::FakeClock clock{SystemTime{std::chrono::nanoseconds{kNow}}};
  LokiLimits limits;
  LokiOptions options;
  std::unique_ptr<FakeLoki> loki;
  std::unique_ptr<EventExporter> exporter;
};

TEST_F(LokiTest, PushesLinesWithTheirBytesAndTimesInOneStream) {
  limits.tenant = "team-a";
  options.tenant = "team-a";
  options.environment = "prod";
  options.user = "u";
  options.password = "p";
  Start();
  const auto events = MakeEvents(1, 3);
  ASSERT_EQ(Export(events).delivery, Delivery::kDelivered);
  const auto streams = loki->Streams();
  ASSERT_THAT(streams, SizeIs(1));
  EXPECT_EQ(streams.begin()->first, R"({"environment":"prod","service_name":"breakwatch"})");
  ASSERT_THAT(loki->Entries(), SizeIs(3));
  EXPECT_EQ(loki->Entries()[1].line, events[1].line);
  EXPECT_EQ(loki->Entries()[1].ts_ns, events[1].ts_ns);
  EXPECT_EQ(loki->Entries()[1].metadata,
            (std::map<std::string, std::string>{
                {"sweep_id", "sweep-1"}, {"model", "org/model"}, {"commit", std::string(40, 'a')}}));
  EXPECT_EQ(Pushes()[0].Header("content-encoding"), "gzip");
  EXPECT_EQ(Pushes()[0].Header("authorization"), "Basic dTpw");
}

TEST_F(LokiTest, OmitsStructuredMetadataIfConfigured) {
  options.structured_metadata = StructuredMetadata::kOff;
  options.gzip = false;
  Start();
  ASSERT_EQ(Export(MakeEvents(1, 1)).delivery, Delivery::kDelivered);
  EXPECT_TRUE(loki->Entries()[0].metadata.empty());
}

TEST_F(LokiTest, NamesTheRefusedEventsOfABatchWhoseOthersAreStored) {
  Start();
  auto events = MakeEvents(1, 64);
  events[0].ts_ns = kNow - 8LL * 24 * 3600 * 1'000'000'000;  // older than Loki accepts
  events[40].line = std::string(300 << 10, 'x');             // longer than Loki accepts
  const Outcome outcome = Export(events);
  EXPECT_EQ(outcome.delivery, Delivery::kDelivered);
  ASSERT_THAT(outcome.refused, SizeIs(2));
  EXPECT_EQ(outcome.refused[0].place, 0u);
  EXPECT_THAT(outcome.refused[0].detail, HasSubstr("timestamp too old"));
  EXPECT_EQ(outcome.refused[1].place, 40u);
  EXPECT_THAT(outcome.refused[1].detail, HasSubstr("Max entry size '262144' bytes exceeded"));
  EXPECT_THAT(loki->Entries(), SizeIs(62));
  EXPECT_EQ(loki->Pushes(), 1u);
}

TEST_F(LokiTest, IsRefusedIfTheAnswerDoesNotTellWhichEventsLokiRefused) {
  limits.poison = "graph_break\",\"schema\":1,\"event_id\":2,";
  limits.may_query = false;
  Start();
  EXPECT_EQ(Export(MakeEvents(1, 3)).delivery, Delivery::kRefused);
  EXPECT_THAT(loki->Entries(), SizeIs(2));
}

TEST_F(LokiTest, IsRefusedWhenASingleEventIsTooLarge) {
  limits.max_body_bytes = 3'000;
  Start();
  EXPECT_EQ(Export(MakeEvents(1, 1, 4'000)).delivery, Delivery::kRefused);
  EXPECT_EQ(Export(MakeEvents(2, 2)).delivery, Delivery::kDelivered);
}

TEST_F(LokiTest, DistinguishesARejectionOfEntriesFromOneOfTheWholePush) {
  limits.allow_metadata = false;
  options.structured_metadata = StructuredMetadata::kOn;
  Start();
  const Outcome blanket = Export(MakeEvents(1, 2));
  EXPECT_EQ(blanket.delivery, Delivery::kRefused);
  EXPECT_FALSE(blanket.names_events);
  const Outcome hidden = ExportWith({400, {}, "7 errors like: entry for stream '{}' has timestamp too old: yesterday"});
  EXPECT_EQ(hidden.delivery, Delivery::kRefused);
  EXPECT_TRUE(hidden.names_events);
  EXPECT_TRUE(ExportWith({413}).names_events);
}

TEST_F(LokiTest, LosesNothingWhileATenantIsBlocked) {
  limits.blocked = true;
  Start();
  const Outcome outcome = Export(MakeEvents(1, 2));
  EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
  EXPECT_THAT(outcome.detail, HasSubstr("blocks"));
  EXPECT_GE(outcome.after.value_or(seconds{0}), seconds{60});
  loki->With([](fakes::LokiStore& store) { store.limits().blocked = false; });
  EXPECT_EQ(Export(MakeEvents(1, 2)).delivery, Delivery::kDelivered);
  EXPECT_THAT(loki->Entries(), SizeIs(2));
}

TEST_F(LokiTest, RetriesAfterTheTimeThatLokiRequests) {
  Start();
  for (const int busy : {408, 429, 500, 502, 503, 504}) {
    const Outcome outcome = ExportWith({busy, {{"Retry-After", "3"}}});
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << busy;
    EXPECT_EQ(outcome.after, seconds{3}) << busy;
  }
}

TEST_F(LokiTest, MakesNoDeadLetterForAWrongAddressOrPassword) {
  Start();
  for (const int wrong : {302, 401, 403, 404, 405, 415}) {
    const Outcome outcome = ExportWith({wrong, {}, "go away\n"});
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << wrong;
    EXPECT_GE(outcome.after.value_or(seconds{0}), seconds{60}) << wrong;
    EXPECT_THAT(outcome.detail, HasSubstr(std::to_string(wrong)));
  }
  EXPECT_EQ(ExportWith({200}).delivery, Delivery::kDelivered);
  for (const int page : {200, 203, 206}) {
    const Outcome outcome = ExportWith({page, {{"Content-Type", "text/html"}}, "<html>Please sign in</html>"});
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << page;
    EXPECT_THAT(outcome.detail, HasSubstr("not an answer of Loki"));
    EXPECT_THAT(outcome.detail, HasSubstr("text/html: <html>Please sign in</html>"));
  }
  EXPECT_EQ(ExportWith({422}).delivery, Delivery::kRefused);
}

TEST_F(LokiTest, RetriesIfLokiHangsClosesTheConnectionOrIsGone) {
  options.timeout = milliseconds{200};
  Start();
  Reply hang, hang_up;
  hang.hang = true;
  hang_up.hang_up = true;
  EXPECT_EQ(ExportWith(hang_up).delivery, Delivery::kTryAgain);
  EXPECT_EQ(ExportWith(hang).delivery, Delivery::kTryAgain);
  loki.reset();
  EXPECT_EQ(Export(MakeEvents(1, 1)).delivery, Delivery::kTryAgain);
}

TEST_F(LokiTest, KeepsEverythingAfterEveryBadAnswer) {
  options.timeout = milliseconds{500};
  Start();
  for (const auto& [name, reply, needs_person, detail] : fakes::BadAnswers()) {
    const Outcome outcome = ExportWith(reply);
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain) << name;
    EXPECT_EQ(outcome.needs_person, needs_person) << name << ": " << outcome.detail;
    EXPECT_EQ(outcome.after.value_or(seconds{0}) >= seconds{60}, needs_person) << name;
    EXPECT_THAT(outcome.detail, HasSubstr(detail)) << name;
    EXPECT_THAT(outcome.detail, Not(HasSubstr("secret"))) << name;
    EXPECT_LT(outcome.detail.size(), fakes::kMaxDetailBytes) << name;
    EXPECT_EQ(outcome.detail.find('\n'), std::string::npos) << name;
  }
  EXPECT_EQ(Export(MakeEvents(1, 1)).delivery, Delivery::kDelivered);
  EXPECT_THAT(loki->Entries(), SizeIs(1));
}

TEST_F(LokiTest, KeepsTheReasonOfADeadLetterShort) {
  limits.may_query = false;
  Start();
  const Outcome outcome = ExportWith({400, {}, "no such thing\n" + std::string(100'000, 'e')});
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_THAT(outcome.detail, HasSubstr("no such thing"));
  EXPECT_LT(outcome.detail.size(), fakes::kMaxDetailBytes);
}

TEST_F(LokiTest, SendsValidTextWhateverTheBytes) {
  Start();
  StoredEvent event = MakeEvent(1);
  event.line = "{\"m\":\"\xff\xc3 quote\\\" \t\"}";
  event.model = "org/\xed\xa0\x80";
  EXPECT_EQ(Export({event}).delivery, Delivery::kDelivered);
  ASSERT_THAT(loki->Entries(), SizeIs(1));
  EXPECT_THAT(loki->Entries()[0].line, HasSubstr("\xef\xbf\xbd"));
}

}  // namespace
}  // namespace breakwatch::exporters
