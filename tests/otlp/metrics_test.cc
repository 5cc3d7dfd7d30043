// Metrics: their requests and the outcome for every kind of answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/core/exposition.h"
#include "breakwatch/core/series.h"
#include "breakwatch/exporters/otlp.h"
#include "fakes/fake_clock.h"
#include "fakes/sample_snapshot.h"
#include "otlp/fake_sender.h"

namespace breakwatch::exporters {
namespace {

using fakes::SampleSnapshot;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kStart = 1'763'690'000'000'000'000;

class OtlpMetricsTest : public ::testing::Test {
 protected:
  OtlpMetricsTest() {
    options.name = "otlp_metrics";
    options.url = "http://collector:4318/v1/metrics";
    options.encoding = OtlpEncoding::kJson;
    options.resource = {{"service.name", "breakwatch"}, {"service.instance.id", "i-1"}};
    options.scope_version = "1.2.3";
  }
  MetricExporter& Exporter() {
    if (!exporter_) exporter_ = MakeOtlpMetrics(options, std::make_unique<FakeSender>(sent), clock);
    return *exporter_;
  }
  Outcome Export() { return Exporter().Export(SampleSnapshot()); }
  Outcome ExportWith(int status, std::string body = "", std::string type = "application/json") {
    sent->AnswerNext(status, std::move(body), std::move(type));
    return Export();
  }
  // The metrics of all requests, in order.
  std::vector<json> Metrics() const {
    std::vector<json> all;
    for (std::size_t i = 0; i < sent->requests.size(); ++i) {
      const json scope = sent->Json(i)["resourceMetrics"][0]["scopeMetrics"][0];
      for (const json& metric : scope["metrics"]) all.push_back(metric);
    }
    return all;
  }
  json Metric(const std::string& name) const {
    for (const json& metric : Metrics())
      if (metric["name"] == name) return metric;
    return nullptr;
  }

  fakes::FakeClock clock{SystemTime{std::chrono::nanoseconds{kStart}}};
  OtlpOptions options;
  std::shared_ptr<SenderRecord> sent = std::make_shared<SenderRecord>();

 private:
  std::unique_ptr<MetricExporter> exporter_;
};

// What the text format has, in the form "name{label=value,...} value".
std::vector<std::string> Expected(const Snapshot& snapshot) {
  std::vector<std::string> all;
  EachSeries(snapshot, {}, [&](const Series& series) {
    std::string text(series.name);
    for (const auto& [name, value] : series.labels) text.append(" ").append(name).append("=").append(value);
    all.push_back(text + " " + json(series.value).dump());
  });
  return all;
}

std::vector<std::string> Points(const std::vector<json>& metrics) {
  std::vector<std::string> all;
  for (const json& metric : metrics) {
    for (const json& point : metric[metric.contains("sum") ? "sum" : "gauge"]["dataPoints"]) {
      std::string text = metric["name"];
      if (point.contains("attributes"))
        for (const std::string& attribute : AttributesOf(point["attributes"])) text += " " + attribute;
      all.push_back(text + " " + point["asDouble"].dump());
    }
  }
  return all;
}

TEST_F(OtlpMetricsTest, SendsEverySeriesInOneRequest) {
  options.headers = {{"X-Scope-OrgID", "team"}};
  options.user = "u";
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  ASSERT_THAT(sent->requests, SizeIs(1));
  const auto& request = sent->requests[0];
  EXPECT_EQ(request.method + " " + request.url, "POST http://collector:4318/v1/metrics");
  EXPECT_THAT(request.headers,
              ElementsAre(std::pair("X-Scope-OrgID", "team"), std::pair("Content-Type", "application/json")));
  EXPECT_TRUE(request.gzip_body);
  EXPECT_EQ(request.user, "u");
  EXPECT_EQ(Points(Metrics()), Expected(SampleSnapshot()));
}

TEST_F(OtlpMetricsTest, NamesResourceAndScope) {
  Export();
  const json resource = sent->Json(0)["resourceMetrics"][0];
  EXPECT_THAT(AttributesOf(resource["resource"]["attributes"]),
              ElementsAre("service.name=breakwatch", "service.instance.id=i-1"));
  EXPECT_EQ(resource["scopeMetrics"][0]["scope"], (json{{"name", "breakwatch"}, {"version", "1.2.3"}}));
}

TEST_F(OtlpMetricsTest, SendsBreaksAsACumulativeSumThatIsNotMonotonic) {
  clock.Advance(seconds(5));
  Export();
  const json metric = Metric("compile_breaks_total");
  EXPECT_EQ(metric["sum"]["aggregationTemporality"], 2);
  EXPECT_FALSE(metric["sum"].contains("isMonotonic"));
  EXPECT_THAT(metric["description"].get<std::string>(), HasSubstr("Break events"));
  const json point = metric["sum"]["dataPoints"][0];
  EXPECT_EQ(point["timeUnixNano"], std::to_string(kStart + 5'000'000'000));
  EXPECT_FALSE(point.contains("startTimeUnixNano"));
}

TEST_F(OtlpMetricsTest, SendsCountersOfTheProcessSinceItsStart) {
  Exporter();
  clock.Advance(seconds(5));
  Export();
  const json sum = Metric("breakwatch_export_attempts_total")["sum"];
  EXPECT_EQ(sum["isMonotonic"], true);
  EXPECT_EQ(sum["dataPoints"][0]["startTimeUnixNano"], std::to_string(kStart));
  // Counted over all processes.
  const json total = Metric("breakwatch_depth_mismatches_total")["sum"];
  EXPECT_EQ(total["isMonotonic"], true);
  EXPECT_FALSE(total["dataPoints"][0].contains("startTimeUnixNano"));
}

TEST_F(OtlpMetricsTest, SendsGaugesWithTheUnitOfTheirName) {
  Export();
  EXPECT_TRUE(Metric("compile_graphs").contains("gauge"));
  EXPECT_FALSE(Metric("compile_graphs").contains("unit"));
  EXPECT_EQ(Metric("breakwatch_sweep_duration_seconds")["unit"], "s");
}

TEST_F(OtlpMetricsTest, SplitsALargeSnapshot) {
  Snapshot snapshot = SampleSnapshot();
  for (int i = 0; i < 60; ++i)
    snapshot.models.push_back(fakes::MakeModel("org/m" + std::to_string(i), fakes::Commit('d'), {}, i));
  options.max_request_bytes = 20 << 10;
  ASSERT_EQ(Exporter().Export(snapshot).delivery, Delivery::kDelivered);
  EXPECT_GT(sent->requests.size(), 5u);
  for (const auto& request : sent->requests) EXPECT_LE(request.body.size(), options.max_request_bytes);
  EXPECT_EQ(Points(Metrics()), Expected(snapshot));
}

TEST_F(OtlpMetricsTest, StopsAtTheFirstRequestThatFails) {
  options.max_request_bytes = 16 << 10;
  sent->AnswerNext(200);
  sent->AnswerNext(503);
  Snapshot snapshot = SampleSnapshot();
  for (int i = 0; i < 100; ++i)
    snapshot.models.push_back(fakes::MakeModel("org/m" + std::to_string(i), fakes::Commit('d'), {}, i));
  EXPECT_EQ(Exporter().Export(snapshot).delivery, Delivery::kTryAgain);
  EXPECT_THAT(sent->requests, SizeIs(2));
}

TEST_F(OtlpMetricsTest, HalvesRequestsThatAreTooLarge) {
  options.max_request_bytes = 32 << 10;
  EXPECT_EQ(ExportWith(413).delivery, Delivery::kTryAgain);
  sent->requests.clear();
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  for (const auto& request : sent->requests) EXPECT_LE(request.body.size(), 16u << 10);
  EXPECT_EQ(Points(Metrics()), Expected(SampleSnapshot()));
  // It gets no smaller.
  EXPECT_EQ(ExportWith(413).delivery, Delivery::kRefused);
}

TEST_F(OtlpMetricsTest, RepeatsTheStateAtItsInterval) {
  options.repeat_every = seconds(30);
  EXPECT_EQ(Exporter().RepeatEvery(), milliseconds(30'000));
}

TEST_F(OtlpMetricsTest, ReportsRejectedPointsOnceAndDoesNotSendThemAgain) {
  const std::string partial = R"({"partialSuccess":{"rejectedDataPoints":"3","errorMessage":"too many\nseries"}})";
  const Outcome outcome = ExportWith(200, partial);
  EXPECT_EQ(outcome.delivery, Delivery::kDelivered);
  EXPECT_THAT(outcome.notice, AllOf(HasSubstr("rejected 3 of "), HasSubstr("too many series")));
  EXPECT_THAT(ExportWith(200, partial).notice, IsEmpty());
  EXPECT_THAT(ExportWith(200).notice, IsEmpty());
  EXPECT_THAT(ExportWith(200, partial).notice, HasSubstr("rejected 3 of "));
}

TEST_F(OtlpMetricsTest, ReportsAWarningOfTheReceiver) {
  EXPECT_EQ(ExportWith(200, R"({"partialSuccess":{"errorMessage":"use v2"}})").notice, "the receiver warns: use v2");
}

TEST_F(OtlpMetricsTest, ReportsTheReceiversErrorInItsOwnWords) {
  const Outcome outcome = ExportWith(400, R"({"code":3,"message":"bad name"})");
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_THAT(outcome.detail,
              AllOf(HasSubstr("data points to http://collector:4318/v1/metrics: 400, "), HasSubstr(": bad name")));
}

}  // namespace
}  // namespace breakwatch::exporters
