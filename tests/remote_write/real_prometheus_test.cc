// The exporter and the packaged Prometheus with its receiver: what a user's queries give.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "breakwatch/core/exposition.h"
#include "breakwatch/exporters/remote_write.h"
#include "breakwatch/net/url.h"
#include "fakes/sample_snapshot.h"
#include "fakes/server_process.h"
#include "net/scripted_server.h"

namespace breakwatch::exporters {
namespace {

using fakes::Commit;
using fakes::FindProgram;
using fakes::MakeModel;
using fakes::SampleSnapshot;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using SeriesValues = std::map<std::map<std::string, std::string>, double>;

class RealPrometheusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    program_ = FindProgram("prometheus");
    if (program_.empty()) GTEST_SKIP() << "prometheus is not installed";
    std::string pattern = (std::filesystem::temp_directory_path() / "breakwatch-remote-write-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    snapshot_.taken_at = RealClock().Now();
    options_.labels = {{"job", "breakwatch"}};
    Start();
  }
  void TearDown() override {
    prometheus_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  // The second start is on the port of the first, with its data.
  void Start(const std::vector<std::string>& more = {"--web.enable-remote-write-receiver"}) {
    const bool ran = port_ != 0;
    for (int attempt = 0; attempt < (ran ? 1 : 3); ++attempt) {
      if (!ran) port_ = fakes::FreePort();
      // A scrape of a page with the exposition, for a comparison.
      std::ofstream(folder_ / "prometheus.yml")
          << "scrape_configs:\n  - job_name: scraped\n    scrape_interval: 200ms\n    scrape_timeout: 200ms\n"
             "    static_configs: [{targets: ['"
          << page_.Authority() << "']}]\n";
      std::vector<std::string> argv = {program_, "--config.file=" + (folder_ / "prometheus.yml").string(),
                                       "--storage.tsdb.path=" + (folder_ / "tsdb").string(),
                                       "--web.listen-address=127.0.0.1:" + std::to_string(port_)};
      argv.insert(argv.end(), more.begin(), more.end());
      prometheus_ = std::make_unique<fakes::ServerProcess>(argv, folder_ / "prometheus.log");
      if (prometheus_->WaitUntilReady(Url() + "/-/ready")) return;
    }
    FAIL() << "Prometheus does not start, see its log: " << std::ifstream(folder_ / "prometheus.log").rdbuf();
  }
  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  MetricExporter& Exporter() {
    if (exporter_ == nullptr) {
      options_.url = Url() + "/api/v1/write";
      exporter_ = MakeRemoteWrite(options_, net::MakeHttpSender("breakwatch/test"), RealClock());
    }
    return *exporter_;
  }
  Outcome Export() { return Exporter().Export(snapshot_); }
  // A newer snapshot.
  void Change() { snapshot_.taken_at += std::chrono::seconds(1); }

  // By labels without job and instance, what a query for `selector` shows now.
  SeriesValues Query(const std::string& query) {
    net::HttpRequest request;
    request.url = Url() + "/api/v1/query?query=" + net::PercentEncode(query);
    const auto answer = sender_->Send(request);
    SeriesValues values;
    if (!answer) return values;
    const json parsed = json::parse(answer->body, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("data")) return values;
    for (const json& row : parsed["data"]["result"]) {
      auto labels = row["metric"].get<std::map<std::string, std::string>>();
      labels.erase("job"), labels.erase("instance");
      values.emplace(std::move(labels), std::stod(row["value"][1].get<std::string>()));
    }
    return values;
  }
  SeriesValues Written() { return Query(R"({job="breakwatch"})"); }
  SeriesValues Scraped() { return Query(R"({job="scraped", __name__=~"(compile|breakwatch)_.*"})"); }
  // Queries until the result is as expected, for as long as a slow machine may need for a scrape.
  template <class Is>
  bool Eventually(Is is) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (!is()) {
      if (std::chrono::steady_clock::now() > give_up) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    return true;
  }

  Snapshot snapshot_ = SampleSnapshot();
  breakwatch::testing::ScriptedServer page_{
      [text = Exposition(SampleSnapshot())](const breakwatch::testing::SeenRequest&) {
        return breakwatch::testing::Reply{200, {{"Content-Type", "text/plain; version=0.0.4"}}, text};
      }};
  std::filesystem::path folder_;
  std::string program_;
  int port_ = 0;
  std::unique_ptr<fakes::ServerProcess> prometheus_;
  RemoteWriteOptions options_;
  std::unique_ptr<MetricExporter> exporter_;
  std::unique_ptr<net::HttpSender> sender_ = net::MakeHttpSender("breakwatch-tests");
};

TEST_F(RealPrometheusTest, ShowsTheSeriesThatAScrapeOfTheSameSnapshotGives) {
  options_.batch_series = 10;
  const Outcome outcome = Export();
  ASSERT_EQ(outcome.delivery, Delivery::kDelivered) << outcome.detail;
  ASSERT_TRUE(Eventually([this] { return !Scraped().empty(); }));
  EXPECT_EQ(Written(), Scraped());
}

TEST_F(RealPrometheusTest, ShowsNothingOfAModelThatLeftAtOnce) {
  Export();
  ASSERT_FALSE(Query(R"({model="org/clean"})").empty());
  Snapshot smaller = snapshot_;
  smaller.models = {snapshot_.models[0]};
  snapshot_ = smaller;
  Change();
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  EXPECT_THAT(Query(R"({job="breakwatch", model="org/clean"})"), IsEmpty());
  EXPECT_FALSE(Query(R"({job="breakwatch", model="org/breaking"})").empty());
}

TEST_F(RealPrometheusTest, ReplacesTheOldCommitByTheNew) {
  Export();
  snapshot_.models.Own(0) = MakeModel("org/breaking", Commit('e'), {{"Print", "GB0059", "supportable", 1, 1}});
  Change();
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  EXPECT_EQ(Query(R"(sum by (model, commit, reason) (compile_breaks_total{job="breakwatch", model="org/breaking"}))"),
            (SeriesValues{{{{"model", "org/breaking"}, {"commit", Commit('e')}, {"reason", "Print"}}, 1}}));
}

TEST_F(RealPrometheusTest, ContinuesAfterPrometheusRestarted) {
  Export();
  const SeriesValues before = Written();
  prometheus_.reset();
  const Outcome away = Export();
  EXPECT_EQ(away.delivery, Delivery::kTryAgain);
  EXPECT_THAT(away.detail, HasSubstr("127.0.0.1"));
  Start();
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  EXPECT_EQ(Written(), before);
}

TEST_F(RealPrometheusTest, GivesOneSampleForEachExportAndNoConflict) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  const SeriesValues counts = Query(R"(count_over_time(compile_graphs{job="breakwatch"}[1m]))");
  ASSERT_EQ(counts.size(), 2u);
  for (const auto& [labels, count] : counts) EXPECT_EQ(count, 3);
}

TEST_F(RealPrometheusTest, ReportsASecondDaemonWithTheSameLabels) {
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  // Another clock: the other daemon's is ahead.
  class Ahead : public Clock {
   public:
    SystemTime Now() const override { return RealClock().Now() + std::chrono::minutes(1); }
    SteadyTime Steady() const override { return RealClock().Steady(); }
  } ahead;
  const auto other = MakeRemoteWrite(options_, net::MakeHttpSender("breakwatch/test"), ahead);
  ASSERT_EQ(other->Export(snapshot_).delivery, Delivery::kDelivered);
  const Outcome outcome = Export();
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_THAT(outcome.detail, HasSubstr("set another pool or instance"));
}

TEST_F(RealPrometheusTest, NamesTheFlagIfTheReceiverIsOff) {
  prometheus_.reset();
  Start({});
  const Outcome outcome = Export();
  EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
  EXPECT_THAT(outcome.detail, HasSubstr("--web.enable-remote-write-receiver"));
}

TEST_F(RealPrometheusTest, CarriesHostileLabelsThrough) {
  snapshot_.models.Own(0) = MakeModel("org/a\"b\\c\nd é\xff", Commit('a'), {{"re\"ason\n\\", "", "", 4, 1}});
  Change();
  ASSERT_EQ(Export().delivery, Delivery::kDelivered);
  const SeriesValues values = Query(R"(compile_breaks_total{job="breakwatch", reason!="none"})");
  EXPECT_TRUE(std::ranges::any_of(values, [](const auto& series) {
    return series.first.at("model") == "org/a\"b\\c\nd é\xef\xbf\xbd" && series.first.at("reason") == "re\"ason\n\\";
  }));
}

}  // namespace
}  // namespace breakwatch::exporters
