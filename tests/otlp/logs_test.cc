// Events as logs: their records and the outcome for every kind of answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/core/event.h"
#include "breakwatch/exporters/otlp.h"
#include "fakes/fake_clock.h"
#include "otlp/fake_sender.h"

namespace breakwatch::exporters {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kNow = 1'763'690'000'000'000'000;

StoredEvent MakeEvent(std::int64_t id, Level level = Level::kInfo, const std::string& model = "org/model") {
  const Event event{"graph_break", level, "sweep-1", model, model.empty() ? "" : std::string(40, 'a'), ""};
  return {id, kNow + id, event.sweep_id, event.model, event.commit, ComposeLine(event, id, kNow + id)};
}

std::vector<StoredEvent> MakeEvents(std::int64_t first, std::int64_t last) {
  std::vector<StoredEvent> events;
  for (std::int64_t id = first; id <= last; ++id) events.push_back(MakeEvent(id));
  return events;
}

std::string Rejected(int records) {
  return R"({"partialSuccess":{"rejectedLogRecords":")" + std::to_string(records) + R"(","errorMessage":"too long"}})";
}

class OtlpLogsTest : public ::testing::Test {
 protected:
  OtlpLogsTest() {
    options.name = "otlp_logs";
    options.url = "http://collector:4318/v1/logs";
    options.encoding = OtlpEncoding::kJson;
    options.resource = {{"service.name", "breakwatch"}};
  }
  Outcome Export(const std::vector<StoredEvent>& events) {
    if (!exporter_) exporter_ = MakeOtlpLogs(options, std::make_unique<FakeSender>(sent), clock);
    return exporter_->Export(events);
  }
  Outcome ExportWith(int status, std::string body, const std::vector<StoredEvent>& events) {
    sent->AnswerNext(status, std::move(body));
    return Export(events);
  }
  json Records(std::size_t request = 0) const {
    return sent->Json(request)["resourceLogs"][0]["scopeLogs"][0]["logRecords"];
  }

  fakes::FakeClock clock{SystemTime{std::chrono::nanoseconds{kNow}}};
  OtlpOptions options;
  std::shared_ptr<SenderRecord> sent = std::make_shared<SenderRecord>();

 private:
  std::unique_ptr<EventExporter> exporter_;
};

TEST_F(OtlpLogsTest, SendsOneRecordForEachEvent) {
  const auto events = MakeEvents(1, 3);
  ASSERT_EQ(Export(events).delivery, Delivery::kDelivered);
  ASSERT_THAT(Records(), SizeIs(3));
  const json record = Records()[1];
  EXPECT_EQ(record["timeUnixNano"], std::to_string(kNow + 2));
  EXPECT_EQ(record["severityNumber"], 9);
  EXPECT_EQ(record["severityText"], "info");
  EXPECT_EQ(record["body"]["stringValue"], events[1].line);
  EXPECT_EQ(record["eventName"], "graph_break");
  EXPECT_THAT(AttributesOf(record["attributes"]),
              ElementsAre("event_id=2", "event.name=graph_break", "sweep_id=sweep-1", "model=org/model",
                          "commit=" + std::string(40, 'a')));
}

TEST_F(OtlpLogsTest, LeavesOutWhatTheEventHasNot) {
  Export({MakeEvent(1, Level::kError, "")});
  EXPECT_THAT(AttributesOf(Records()[0]["attributes"]),
              ElementsAre("event_id=1", "event.name=graph_break", "sweep_id=sweep-1"));
  EXPECT_EQ(Records()[0]["severityNumber"], 17);
}

TEST_F(OtlpLogsTest, SendsTheSameBytesAgain) {
  const auto events = MakeEvents(1, 5);
  EXPECT_EQ(ExportWith(503, "", events).delivery, Delivery::kTryAgain);
  clock.Advance(seconds(90));
  EXPECT_EQ(Export(events).delivery, Delivery::kDelivered);
  EXPECT_EQ(sent->requests.at(0).body, sent->requests.at(1).body);
  EXPECT_TRUE(sent->requests[0].fresh_connection);
}

TEST_F(OtlpLogsTest, RepairsALineThatIsNotUtf8) {
  StoredEvent event = MakeEvent(1);
  event.line = "\xff {";
  Export({event});
  EXPECT_EQ(Records()[0]["body"]["stringValue"], "\xEF\xBF\xBD {");
  EXPECT_EQ(Records()[0]["severityNumber"], 0);
}

TEST_F(OtlpLogsTest, RefusesAllEventsOfABatchThatIsRejectedWhole) {
  const Outcome outcome = ExportWith(200, Rejected(2), MakeEvents(7, 8));
  EXPECT_EQ(outcome.delivery, Delivery::kDelivered);
  EXPECT_THAT(outcome.refused, ElementsAre(Field(&RefusedEvent::place, 0u), Field(&RefusedEvent::place, 1u)));
  EXPECT_EQ(outcome.refused[0].detail, "the receiver rejected the record: too long");
  EXPECT_THAT(outcome.notice, IsEmpty());
}

// The answer does not say which ones, and none may be sent again.
TEST_F(OtlpLogsTest, ReportsTheNumberOfRecordsThatWereRejected) {
  const Outcome outcome = ExportWith(200, Rejected(2), MakeEvents(7, 9));
  EXPECT_EQ(outcome.delivery, Delivery::kDelivered);
  EXPECT_THAT(outcome.refused, IsEmpty());
  EXPECT_THAT(outcome.notice,
              AllOf(HasSubstr("rejected 2 log records"), HasSubstr("events 7 to 9"), HasSubstr("too long")));
}

TEST_F(OtlpLogsTest, ReportsRejectedRecordsOnceAMinuteWithTheirSum) {
  EXPECT_THAT(ExportWith(200, Rejected(1), MakeEvents(1, 3)).notice, HasSubstr("rejected 1 log record "));
  EXPECT_THAT(ExportWith(200, Rejected(2), MakeEvents(4, 6)).notice, IsEmpty());
  clock.Advance(seconds(61));
  EXPECT_THAT(ExportWith(200, Rejected(1), MakeEvents(7, 9)).notice, HasSubstr("rejected 3 log records "));
}

TEST_F(OtlpLogsTest, HalvesABatchThatIsTooLarge) {
  const Outcome many = ExportWith(413, "", MakeEvents(1, 2));
  EXPECT_EQ(many.delivery, Delivery::kTryAgain);
  EXPECT_TRUE(many.smaller);
  const Outcome one = ExportWith(413, "", MakeEvents(1, 1));
  EXPECT_EQ(one.delivery, Delivery::kRefused);
  EXPECT_TRUE(one.names_events);
}

TEST_F(OtlpLogsTest, LetsABatchBeBisectedThatIsRefused) {
  const Outcome outcome = ExportWith(400, R"({"code":3,"message":"bad body"})", MakeEvents(1, 2));
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_FALSE(outcome.names_events);
  EXPECT_EQ(outcome.detail,
            "send 2 events to http://collector:4318/v1/logs: 400, the receiver refused the data: bad body");
}

}  // namespace
}  // namespace breakwatch::exporters
