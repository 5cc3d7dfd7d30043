// The exporter, the packaged Pushgateway and the packaged Prometheus: the result of a user's query.
#include <arpa/inet.h>
#include <crypt.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "breakwatch/exporters/pushgateway.h"
#include "breakwatch/net/url.h"
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
    const bool ran = port_ != 0;
    gateway_.reset();
    for (int attempt = 0; attempt < (ran ? 1 : 3); ++attempt) {
      if (!ran) port_ = fakes::FreePort();
      std::vector<std::string> argv = {gateway_program_, "--persistence.file=" + file_,
                                       "--web.listen-address=127.0.0.1:" + std::to_string(port_)};
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
    return Make(std::move(options), net::MakeHttpSender("breakwatch/test"));
  }
  std::unique_ptr<MetricExporter> Make(PushgatewayOptions options, std::unique_ptr<net::HttpSender> sender) {
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
    return MakePushgateway(std::move(options), std::make_unique<Shared>(journal_), std::move(sender));
  }
  json Get(const std::string& url) {
    net::HttpRequest request;
    request.url = url;
    const auto answer = sender_->Send(request);
    return answer ? json::parse(answer->body, nullptr, false) : json();
  }
  // Of the sample snapshot, with its first model at this commit.
  static Snapshot SnapshotAt(const std::string& commit) {
    Snapshot snapshot = SampleSnapshot();
    snapshot.models.Own(0) = MakeModel("org/breaking", commit, {{"Data-dependent branching", "GB0170", "", 1, 1}});
    return snapshot;
  }
  // The commits of that model on the gateway.
  std::set<std::string> Commits() {
    std::set<std::string> commits;
    for (const json& group : Groups()) {
      if (!group.contains("compile_graphs")) continue;
      for (const json& metric : group["compile_graphs"]["metrics"]) {
        if (metric["labels"].value("model", "") == "org/breaking") commits.insert(metric["labels"].value("commit", ""));
      }
    }
    return commits;
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
  std::string file_;  // in which the gateway keeps its groups; empty: none
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
  EXPECT_FALSE(exporter->CheckTarget().lost_state);
  StartGateway();
  EXPECT_THAT(Groups(), SizeIs(0));
  ASSERT_TRUE(exporter->CheckTarget().lost_state);
  ASSERT_EQ(exporter->Export(SampleSnapshot()).delivery, Delivery::kDelivered);
  EXPECT_FALSE(exporter->CheckTarget().lost_state);
  EXPECT_THAT(Groups(), SizeIs(1));
}

TEST_F(RealGatewayTest, ReplacesWhatAGatewayReadFromAnOldFile) {
  file_ = (folder_ / "groups").string();
  StartGateway();
  const auto exporter = Make();
  ASSERT_EQ(exporter->Export(SnapshotAt(Commit('a'))).delivery, Delivery::kDelivered);
  gateway_->Stop();
  std::filesystem::copy_file(file_, file_ + ".old");
  StartGateway();
  ASSERT_TRUE(exporter->CheckTarget().lost_state);
  ASSERT_EQ(exporter->Export(SnapshotAt(Commit('b'))).delivery, Delivery::kDelivered);
  gateway_->Stop();
  std::filesystem::rename(file_ + ".old", file_);
  StartGateway();
  EXPECT_EQ(Commits(), std::set{Commit('a')}) << "from the file";
  ASSERT_TRUE(exporter->CheckTarget().lost_state);
  ASSERT_EQ(exporter->Export(SnapshotAt(Commit('b'))).delivery, Delivery::kDelivered);
  EXPECT_EQ(Commits(), std::set{Commit('b')});
}

// Sends the first half of a PUT and kills the gateway.
class KillingSender : public net::HttpSender {
 public:
  explicit KillingSender(std::function<void()> kill) : kill_(std::move(kill)) {}
  Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (request.method != "PUT" || killed_) return inner_->Send(request);
    killed_ = true;
    const auto url = net::ParseUrl(request.url);
    std::string text = "PUT " + url->path +
                       " HTTP/1.1\r\nHost: gateway\r\nContent-Length: " + std::to_string(request.body.size()) + "\r\n";
    for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
    text += "\r\n" + request.body.substr(0, request.body.size() / 2);
    const int socket = Connect(std::stoi(url->port));
    EXPECT_EQ(send(socket, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    kill_();
    close(socket);
    return Error{ErrorCode::kUnavailable, "connection reset", true};
  }

 private:
  static int Connect(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }

  const std::function<void()> kill_;
  bool killed_ = false;
  std::unique_ptr<net::HttpSender> inner_ = net::MakeHttpSender("breakwatch/test");
};

TEST_F(RealGatewayTest, ReplacesEverythingAfterAGatewayWasKilledInAPut) {
  file_ = (folder_ / "groups").string();
  StartGateway();
  ASSERT_EQ(Make()->Export(SnapshotAt(Commit('a'))).delivery, Delivery::kDelivered);
  gateway_->Stop();  // writes the file
  StartGateway();
  const auto exporter = Make({}, std::make_unique<KillingSender>([this] { gateway_.reset(); }));
  EXPECT_EQ(exporter->Export(SnapshotAt(Commit('b'))).delivery, Delivery::kTryAgain);
  StartGateway();
  EXPECT_EQ(Commits(), std::set{Commit('a')}) << "nothing of the half PUT";
  ASSERT_EQ(exporter->Export(SnapshotAt(Commit('b'))).delivery, Delivery::kDelivered);
  EXPECT_EQ(Commits(), std::set{Commit('b')});
  EXPECT_THAT(Groups(), SizeIs(1));
}

TEST_F(RealGatewayTest, NamesAnotherDaemonThatPushesToItsGroup) {
  const auto first = Make(), second = Make();
  ASSERT_EQ(first->Export(SnapshotAt(Commit('a'))).delivery, Delivery::kDelivered);
  EXPECT_EQ(first->CheckTarget().notice, "");
  ASSERT_EQ(first->Export(SnapshotAt(Commit('b'))).delivery, Delivery::kDelivered);
  const auto notices = [](MetricExporter& exporter) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += exporter.CheckTarget().notice;
    return text;
  };
  EXPECT_EQ(notices(*first), "") << "these were its own pushes";
  ASSERT_EQ(second->Export(SnapshotAt(Commit('c'))).delivery, Delivery::kDelivered);
  const std::string notice = notices(*first);
  EXPECT_THAT(notice, HasSubstr("another program pushed to the group /metrics/job/breakwatch"));
  EXPECT_THAT(notice, HasSubstr("exporters.pushgateway.pool"));
  EXPECT_EQ(notice.find("another program"), notice.rfind("another program")) << "once";
  EXPECT_EQ(notices(*second), "");
}

TEST_F(RealGatewayTest, ReportsThatTheGatewayIsUnavailable) {
  const auto exporter = Make();
  gateway_.reset();
  const Outcome outcome = exporter->Export(SampleSnapshot());
  EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
  EXPECT_THAT(outcome.detail, HasSubstr("127.0.0.1"));
  EXPECT_FALSE(exporter->CheckTarget().lost_state);
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
  EXPECT_TRUE(unknown.needs_person);
  wrong = secrets_;
  wrong.tls.ca_file.clear();
  const Outcome unsigned_certificate = Make(wrong)->Export(SampleSnapshot());
  EXPECT_EQ(unsigned_certificate.delivery, Delivery::kTryAgain) << "a certificate that nobody vouches for";
  EXPECT_TRUE(unsigned_certificate.needs_person);

  // Another certificate for the same key. The gateway reads it for each connection.
  const std::string expire = "cd " + folder_.string() +
                             " && openssl req -new -key key.pem -subj /CN=127.0.0.1 -out request.pem && openssl x509 "
                             "-req -in request.pem -key key.pem -days -1 -out cert.pem 2>/dev/null";
  ASSERT_EQ(std::system(expire.c_str()), 0);
  const Outcome expired = Make(secrets_)->Export(SampleSnapshot());
  EXPECT_EQ(expired.delivery, Delivery::kTryAgain);
  EXPECT_TRUE(expired.needs_person) << expired.detail;
  EXPECT_GE(expired.after.value_or(std::chrono::seconds{0}), std::chrono::seconds{60});
  EXPECT_THAT(expired.detail, HasSubstr("certificate has expired"));
  EXPECT_THAT(expired.detail, HasSubstr(Url())) << "names the server";
}

}  // namespace
}  // namespace breakwatch::exporters
