// The exporter, the packaged Pushgateway and the packaged Prometheus: the result of a user's query.
#include <crypt.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "breakwatch/exporters/pushgateway.h"
#include "fakes/sample_snapshot.h"
#include "fakes/server_process.h"

namespace breakwatch::exporters {
namespace {

using fakes::Commit;
using fakes::FindProgram;
using fakes::MakeModel;
using fakes::SampleSnapshot;
using fakes::ServerProcess;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// (model, commit, reason) -> value
using Sums = std::map<std::array<std::string, 3>, double>;

std::string Encode(const std::string& text) {
  std::string out;
  for (const unsigned char c : text) {
    char hex[4];
    std::snprintf(hex, sizeof hex, "%%%02X", c);
    out += hex;
  }
  return out;
}

class RealGatewayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    gateway_program_ = FindProgram("prometheus-pushgateway");
    if (gateway_program_.empty()) GTEST_SKIP() << "prometheus-pushgateway is not installed";
    std::string pattern = (std::filesystem::temp_directory_path() / "breakwatch-gateway-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    StartGateway();
  }
  void TearDown() override {
    prometheus_.reset();
    gateway_.reset();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  // `more`: further flags. After the first start the port stays the same; before, a port that is in use is replaced.
  void StartGateway(const std::vector<std::string>& more = {}) {
    const bool ran = gateway_ != nullptr;
    gateway_.reset();
    for (int attempt = 0; attempt < (ran ? 1 : 3); ++attempt) {
      if (!ran) port_ = fakes::FreePort();
      std::vector<std::string> argv = {
          gateway_program_, "--persistence.file=", "--web.listen-address=127.0.0.1:" + std::to_string(port_)};
      argv.insert(argv.end(), more.begin(), more.end());
      gateway_ = std::make_unique<ServerProcess>(argv, folder_ / "gateway.log");
      if (gateway_->WaitUntilReady(Request("/-/ready"))) return;
    }
    FAIL() << "the gateway does not start, see its log: " << std::ifstream(folder_ / "gateway.log").rdbuf();
  }
  void StartPrometheus() {
    const std::string program = FindProgram("prometheus");
    if (program.empty()) GTEST_SKIP() << "prometheus is not installed";
    prometheus_port_ = fakes::FreePort();
    std::ofstream(folder_ / "prometheus.yml")
        << "scrape_configs:\n  - job_name: gateway\n    honor_labels: true\n    scrape_interval: 200ms\n"
           "    scrape_timeout: 200ms\n    static_configs: [{targets: ['127.0.0.1:"
        << port_ << "']}]\n";
    prometheus_ = std::make_unique<ServerProcess>(
        std::vector<std::string>{program, "--config.file=" + (folder_ / "prometheus.yml").string(),
                                 "--storage.tsdb.path=" + (folder_ / "tsdb").string(),
                                 "--web.listen-address=127.0.0.1:" + std::to_string(prometheus_port_)},
        folder_ / "prometheus.log");
    ASSERT_TRUE(prometheus_->WaitUntilReady(PrometheusUrl() + "/-/ready"));
  }
  std::string Url() const { return scheme_ + "://127.0.0.1:" + std::to_string(port_); }
  net::HttpRequest Request(const std::string& path) const {
    net::HttpRequest request;
    request.url = Url() + path;
    request.user = secrets_.user;
    request.password = secrets_.password;
    request.tls = secrets_.tls;
    return request;
  }
  std::string PrometheusUrl() const { return "http://127.0.0.1:" + std::to_string(prometheus_port_); }

  std::unique_ptr<MetricExporter> Make(PushgatewayOptions options = {}) {
    options.url = Url();
    // All exporters of a test share one journal, like restarts of one daemon.
    class Shared : public GroupJournal {
     public:
      explicit Shared(std::vector<std::string>& groups) : groups_(groups) {}
      Result<std::vector<std::string>> Load() override { return groups_; }
      Result<void> Save(const std::vector<std::string>& groups) override {
        groups_ = groups;
        return {};
      }

     private:
      std::vector<std::string>& groups_;
    };
    return MakePushgateway(std::move(options), std::make_unique<Shared>(journal_),
                           net::MakeHttpSender("breakwatch/test"));
  }
  json Get(const std::string& url) {
    net::HttpRequest request;
    request.url = url;
    const auto answer = sender_->Send(request);
    return answer ? json::parse(answer->body, nullptr, false) : json();
  }
  json Groups() { return Get(Url() + "/api/v1/metrics")["data"]; }
  // The labels of `sum by(model, commit, reason) (compile_breaks_total)`, as Prometheus has them now.
  Sums Query() {
    const json answer =
        Get(PrometheusUrl() + "/api/v1/query?query=" + Encode("sum by(model, commit, reason) (compile_breaks_total)"));
    Sums sums;
    if (!answer.is_object() || !answer.contains("data")) return sums;
    for (const json& row : answer["data"]["result"]) {
      const auto label = [&](const char* name) { return row["metric"].value(name, ""); };
      sums[{label("model"), label("commit"), label("reason")}] = std::stod(row["value"][1].get<std::string>());
    }
    return sums;
  }
  // Queries until the result is `expected`, for as long as a slow machine may need for a scrape.
  Sums QueryUntil(const Sums& expected) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    Sums sums = Query();
    while (sums != expected && std::chrono::steady_clock::now() < give_up) {
      std::this_thread::sleep_for(std::chrono::milliseconds{50});
      sums = Query();
    }
    return sums;
  }
  // The sums that follow from the snapshot.
  static Sums Expected(const Snapshot& snapshot) {
    Sums sums;
    for (const TrackedModel& model : snapshot.models) {
      const Numbers* numbers = snapshot.NumbersOf(model);
      if (numbers == nullptr) continue;
      if (numbers->reasons.empty()) sums[{model.model, numbers->commit, "none"}] = 0;
      for (const ReasonCount& count : numbers->reasons)
        sums[{model.model, numbers->commit, count.reason}] += static_cast<double>(count.events);
    }
    return sums;
  }

  std::filesystem::path folder_;
  std::string gateway_program_;
  int port_ = 0, prometheus_port_ = 0;
  std::string scheme_ = "http";
  PushgatewayOptions secrets_;  // user, password and TLS of the gateway
  std::unique_ptr<ServerProcess> gateway_, prometheus_;
  std::vector<std::string> journal_;
  std::unique_ptr<net::HttpSender> sender_ = net::MakeHttpSender("breakwatch-tests");
};

TEST_F(RealGatewayTest, AnswersTheUsersQueryWithTheSnapshotsNumbersZerosIncluded) {
  StartPrometheus();
  if (IsSkipped()) return;
  const auto exporter = Make();
  Snapshot snapshot = SampleSnapshot();
  ASSERT_EQ(exporter->Export(snapshot).delivery, Delivery::kDelivered);
  EXPECT_EQ(QueryUntil(Expected(snapshot)), Expected(snapshot));

  ASSERT_EQ(exporter->Export(snapshot).delivery, Delivery::kDelivered) << "a second sweep";
  EXPECT_EQ(Query(), Expected(snapshot)) << "changes nothing";

  snapshot.models.Own(0) =
      MakeModel("org/breaking", Commit('e'), {{"Data-dependent branching", "GB0170", "user_error", 1, 1}});
  ASSERT_EQ(exporter->Export(snapshot).delivery, Delivery::kDelivered) << "a new commit";
  EXPECT_EQ(QueryUntil(Expected(snapshot)), Expected(snapshot)) << "replaces the old one";
}

TEST_F(RealGatewayTest, PushesAgainToAGatewayThatRestartedEmpty) {
  const auto exporter = Make();
  ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_FALSE(exporter->TargetLostState());
  StartGateway();
  EXPECT_THAT(Groups(), SizeIs(0));
  ASSERT_TRUE(exporter->TargetLostState());
  ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_FALSE(exporter->TargetLostState());
  EXPECT_THAT(Groups(), SizeIs(1));
}

TEST_F(RealGatewayTest, ReportsThatTheGatewayIsUnavailable) {
  const auto exporter = Make();
  gateway_.reset();
  const Outcome outcome = exporter->Export(SampleSnapshot());
  EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
  EXPECT_THAT(outcome.detail, HasSubstr("127.0.0.1"));
  EXPECT_FALSE(exporter->TargetLostState());
}

TEST_F(RealGatewayTest, LeavesNoGroupOfAnOldLayout) {
  PushgatewayOptions sharded;
  sharded.shards = 3;
  ASSERT_EQ(Make(sharded)->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_THAT(Groups(), SizeIs(3));
  ASSERT_EQ(Make()->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  ASSERT_THAT(Groups(), SizeIs(1));
  EXPECT_FALSE(Groups()[0]["labels"].contains("shard"));
}

TEST_F(RealGatewayTest, IsInThePoolOfTheSettingsForEveryName) {
  for (const std::string pool : {"gpu-a", "eu/1", "..", "a b?c#d%", "é漢"}) {
    PushgatewayOptions options;
    options.pool = pool;
    ASSERT_EQ(Make(options)->Export(SampleSnapshot()).delivery, Delivery::kDelivered) << pool;
    ASSERT_THAT(Groups(), SizeIs(1)) << "the pool before was retired";
    EXPECT_EQ(Groups()[0]["labels"].value("pool", ""), pool);
  }
}

TEST_F(RealGatewayTest, CarriesHostileLabelsThrough) {
  Snapshot snapshot = SampleSnapshot();
  snapshot.models.Own(0) = MakeModel("org/a\"b\\c\nd é\xff", Commit('a'), {{"re\"ason\n\\", "", "", 4, 1}});
  const Outcome outcome = Make()->Export(snapshot);
  ASSERT_EQ(outcome.delivery, Delivery::kDelivered) << outcome.detail;
  const json breaks = Groups()[0]["compile_breaks_total"]["metrics"];
  const bool found = std::any_of(breaks.begin(), breaks.end(), [](const json& metric) {
    return metric["labels"].value("model", "") == "org/a\"b\\c\nd é\xef\xbf\xbd" &&
           metric["labels"].value("reason", "") == "re\"ason\n\\";
  });
  EXPECT_TRUE(found) << breaks;
}

TEST_F(RealGatewayTest, LeavesNoGroupBehindAPushThatContradictsAnother) {
  net::HttpRequest other;
  other.method = "PUT";
  other.url = Url() + "/metrics/job/other";
  other.body = "# TYPE compile_graphs counter\ncompile_graphs 1\n";
  ASSERT_EQ(sender_->Send(other)->status, 200);
  const Outcome outcome = Make()->Export(SampleSnapshot());
  EXPECT_EQ(outcome.delivery, Delivery::kRefused);
  EXPECT_THAT(outcome.detail, HasSubstr("compile_graphs")) << "the gateway's own text";
  // A DELETE is queued, and a later PUT waits for it.
  other.body.clear();
  ASSERT_EQ(sender_->Send(other)->status, 200);
  EXPECT_THAT(Groups(), SizeIs(1));
}

// The hash of `password` for the gateway's web configuration.
std::string Bcrypt(const char* password) {
  crypt_data data{};
  const char* hash = crypt_r(password, "$2b$04$abcdefghijklmnopqrstuu", &data);
  return hash == nullptr ? "" : hash;
}

TEST_F(RealGatewayTest, UsesTlsAndBasicAuth) {
  if (FindProgram("openssl").empty()) GTEST_SKIP() << "openssl is not installed";
  const std::string key = (folder_ / "key.pem").string(), certificate = (folder_ / "cert.pem").string();
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 "
      "-keyout " +
      key + " -out " + certificate + " >/dev/null 2>&1";
  ASSERT_EQ(std::system(make.c_str()), 0);
  std::ofstream(folder_ / "web.yml")
      << "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\nbasic_auth_users: {sre: '" << Bcrypt("secret")
      << "'}\n";
  scheme_ = "https";
  secrets_.user = "sre";
  secrets_.password = "secret";
  secrets_.tls.ca_file = certificate;
  StartGateway({"--web.config.file=" + (folder_ / "web.yml").string()});
  if (HasFatalFailure()) return;

  const Outcome delivered = Make(secrets_)->Export(SampleSnapshot());
  EXPECT_EQ(delivered.delivery, Delivery::kDelivered) << delivered.detail;
  PushgatewayOptions wrong = secrets_;
  wrong.password = "guess";
  const Outcome unknown = Make(wrong)->Export(SampleSnapshot());
  EXPECT_EQ(unknown.delivery, Delivery::kTryAgain);
  EXPECT_THAT(unknown.detail, HasSubstr("401"));
  wrong = secrets_;
  wrong.tls.ca_file.clear();
  EXPECT_EQ(Make(wrong)->Export(SampleSnapshot()).delivery, Delivery::kTryAgain)
      << "a certificate that nobody vouches for";
}

}  // namespace
}  // namespace breakwatch::exporters
