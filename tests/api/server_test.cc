#include "breakwatch/api/server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <future>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "api/fake_queries.h"
#include "breakwatch/core/exposition.h"
#include "breakwatch/core/gzip.h"
#include "breakwatch/core/json.h"

namespace breakwatch::api {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SnapshotPtr TwoModels() {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->toolchain_key = "k";
  TrackedModel broken, clean;
  broken.model = "org/broken";
  broken.family = Family::kNlp;
  broken.rank = 2;
  broken.commit = broken.status_commit = std::string(40, 'a');
  broken.status = Status::kGraphBreaks;
  broken.numbers["k"].commit = broken.commit;
  broken.numbers["k"].capture_id = "c1";
  broken.numbers["k"].reasons = {{"Data-dependent branching", "GB0170", "supportable", 4, 2}};
  FixEffects& fixes = broken.fixes["k"];
  fixes.outcome = "whole";
  fixes.reasons = {{"Data-dependent branching", "GB0170", "setting", {"scalars"}}};
  fixes.sites = {{"site-1", "setting"}};
  clean.model = "org/clean";
  clean.family = Family::kVision;
  clean.rank = 1;
  clean.status = Status::kFullGraph;
  clean.numbers["k"].commit = std::string(40, 'b');
  snapshot->models = {broken, clean};
  snapshot->reasons = {{"Data-dependent branching", "GB0170", "supportable", "https://example.org", 1}};
  return snapshot;
}

class ServerTest : public testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.listen_address = "127.0.0.1:0";
    options.version = "1.2.3";
    auto started = Server::Start(options, Parts());
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    client_ = std::make_unique<httplib::Client>("http://" + server_->Address());
  }
  ServerParts Parts() {
    return {commands_,
            queries_,
            RealClock(),
            [this] { return snapshot_; },
            [this] { return std::vector{loki_}; },
            [] {
              return WorkersOfAll{{"default", {.lost = 3}}};
            },
            [] { return ReloadState{}; },
            [] { return SweepRequest{}; },
            requests_,
            feed_,
            {"default", "old"},
            {},
            [] { return std::string(R"({"settings": [], "files": [], "warnings": []})"); }};
  }
  // The server's response to these bytes. Reads until the server closes the connection, or sends nothing for a time
  // below its own read timeout.
  std::string AnswerTo(const std::string& bytes) {
    const std::string address = server_->Address();
    sockaddr_in peer{};
    peer.sin_family = AF_INET;
    peer.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    peer.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{3, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    std::string answer;
    char buffer[4096];
    if (connect(fd, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) == 0 &&
        send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size())) {
      for (ssize_t size = 0; (size = read(fd, buffer, sizeof buffer)) > 0;) {
        answer.append(buffer, static_cast<std::size_t>(size));
      }
    }
    close(fd);
    return answer;
  }
  int StatusOf(const std::string& body) {
    const auto response = client_->Post("/api/v1/sweeps", body, "application/json");
    return response ? response->status : 0;
  }
  std::string MessageOf(const std::string& body) {
    const auto response = client_->Post("/api/v1/sweeps", body, "application/json");
    return response ? json::parse(response->body)["detail"].get<std::string>() : std::string();
  }
  void StartWith(const std::string& token, bool lifecycle = false) {
    ServerOptions options;
    options.token = token;
    options.enable_lifecycle = lifecycle;
    Start(options);
  }
  json GetJson(const char* path) {
    const auto response = client_->Get(path);
    return response ? json::parse(response->body, nullptr, false) : json();
  }

  CommandQueue commands_{1};
  FakeQueries queries_;
  RequestLog requests_{RealClock(), [](const std::stop_token&) { return std::vector<std::string>(); },
                       [](const Followed&, bool) { return 0; }};
  EventFeed feed_{RealClock()};
  SnapshotPtr snapshot_ = TwoModels();
  DeliveryStats loki_{.exporter = "loki", .events_pending = 7};
  std::unique_ptr<Server> server_;
  std::unique_ptr<httplib::Client> client_;
};

TEST_F(ServerTest, IsReadyOnceThereIsASnapshot) {
  snapshot_ = nullptr;
  Start();
  EXPECT_EQ(client_->Get("/-/healthy")->status, 200);
  EXPECT_EQ(client_->Get("/-/ready")->status, 503);
  EXPECT_EQ(client_->Get("/metrics/models")->status, 503);
  snapshot_ = TwoModels();
  EXPECT_EQ(client_->Get("/-/ready")->status, 200);
}

// The names of the families of a page.
std::set<std::string> FamiliesOf(const std::string& page) {
  std::set<std::string> names;
  for (std::istringstream lines(page); !lines.eof();) {
    std::string line;
    std::getline(lines, line);
    if (line.starts_with("# TYPE ")) names.insert(line.substr(7, line.find(' ', 7) - 7));
  }
  return names;
}

TEST_F(ServerTest, ShowsNoSeriesOnBothPagesOfMetrics) {
  Start();
  const std::set<std::string> own = FamiliesOf(client_->Get("/metrics")->body);
  EXPECT_TRUE(own.contains("breakwatch_daemon_info"));
  const std::set<std::string> models = FamiliesOf(client_->Get("/metrics/models")->body);
  EXPECT_TRUE(models.contains("breakwatch_build_info"));
  for (const std::string& name : own) EXPECT_FALSE(models.contains(name)) << name;
}

TEST_F(ServerTest, LeavesOutTimesOfDeliveryThatNeverCame) {
  Start();
  const std::string never = client_->Get("/metrics")->body;
  EXPECT_EQ(never.find("breakwatch_export_last_failure_timestamp_seconds{"), std::string::npos);
  EXPECT_EQ(never.find("breakwatch_events_oldest_timestamp_seconds{"), std::string::npos);
  loki_.last_failure = SystemTime{std::chrono::seconds{1'763'690'000}};
  loki_.oldest_at = SystemTime{std::chrono::seconds{1'763'680'000}};
  const std::string own = client_->Get("/metrics")->body;
  EXPECT_NE(own.find("breakwatch_export_last_failure_timestamp_seconds{exporter=\"loki\"} 1763690000"),
            std::string::npos);
  EXPECT_NE(own.find("breakwatch_events_oldest_timestamp_seconds{exporter=\"loki\"} 1763680000"), std::string::npos);
}

TEST_F(ServerTest, ServesItsOwnMetricsAndTheModels) {
  Start();
  const std::string own = client_->Get("/metrics")->body;
  EXPECT_NE(own.find("breakwatch_daemon_info{version=\"1.2.3\"} 1"), std::string::npos) << own;
  EXPECT_NE(own.find("process_resident_memory_bytes "), std::string::npos);
  EXPECT_NE(own.find("breakwatch_events_pending{exporter=\"loki\"} 7"), std::string::npos);
  EXPECT_NE(own.find("breakwatch_workers_lost_total{toolchain=\"default\"} 3"), std::string::npos) << own;
  const std::string models = client_->Get("/metrics/models")->body;
  EXPECT_NE(models.find("compile_breaks_total{"), std::string::npos);
  EXPECT_NE(models.find("reason=\"none\""), std::string::npos);
}

TEST_F(ServerTest, ListsModelsByRankAndFiltersThem) {
  Start();
  const json all = GetJson("/api/v1/models");
  ASSERT_EQ(all["models"].size(), 2u);
  EXPECT_EQ(all["models_with_numbers"], 2);
  EXPECT_EQ(all["models"][0]["model"], "org/clean");
  EXPECT_EQ(all["models"][1]["breaks"], 4);
  EXPECT_EQ(GetJson("/api/v1/models?gb_id=GB0170")["models"].size(), 1u);
  EXPECT_EQ(GetJson("/api/v1/models?family=vision")["models"].size(), 1u);
  EXPECT_EQ(GetJson("/api/v1/models?limit=1")["models"].size(), 1u);
  EXPECT_EQ(client_->Get("/api/v1/models?limit=many")->status, 400);
}

TEST_F(ServerTest, ListsReasonsWithTheirTotals) {
  Start();
  const json reasons = GetJson("/api/v1/reasons")["reasons"];
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0]["events"], 4);
  EXPECT_EQ(reasons[0]["models"], 1);
  EXPECT_EQ(reasons[0]["leverage"], 1);
}

TEST_F(ServerTest, AnswersFromTheStore) {
  Start();
  EXPECT_EQ(GetJson("/api/v1/sweeps")["sweeps"].size(), 2u);
  EXPECT_EQ(GetJson("/api/v1/sweeps/s1")["sweep_id"], "s1");
  EXPECT_EQ(GetJson("/api/v1/sweeps/s1/results")["results"].size(), 2u);
  const json model = GetJson("/api/v1/models/org/name");
  EXPECT_EQ(model["model"], "org/name");
  EXPECT_EQ(model["mode"], "eval");
  EXPECT_EQ(model["segments"].size(), 2u);
  EXPECT_EQ(model["segments"][0]["ended_by"], "a site");
  EXPECT_EQ(model["other_results"][0]["mode"], "train");
  EXPECT_EQ(GetJson("/api/v1/models/org/name?mode=train")["mode"], "train");
  EXPECT_EQ(client_->Get("/api/v1/models/org/name?mode=export")->status, 404);
  EXPECT_EQ(client_->Get("/api/v1/models/org/name?toolchain=other")->status, 404);
  EXPECT_EQ(client_->Get("/api/v1/sweeps/s9")->status, 404);
  EXPECT_EQ(client_->Get("/api/v1/models/org/other")->status, 404);
  queries_.broken = true;
  EXPECT_EQ(client_->Get("/api/v1/sweeps")->status, 500);
}

TEST_F(ServerTest, AcceptsASweepOnlyWithTheToken) {
  StartWith("s3cret");
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{}", "application/json")->status, 401);
  client_->set_bearer_token_auth("wrong!");
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{}", "application/json")->status, 401);
  client_->set_bearer_token_auth("s3cret");
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{\"tpo\":1}", "application/json")->status, 400);
  const auto accepted = client_->Post("/api/v1/sweeps", "{\"top\":3}", "application/json");
  ASSERT_EQ(accepted->status, 202);
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{}", "application/json")->status, 503);  // the queue has one entry
  const auto command = commands_.Pop();
  ASSERT_TRUE(command);
  EXPECT_EQ(command->id, json::parse(accepted->body)["id"]);
  EXPECT_EQ(command->request.list.top, 3);
  EXPECT_EQ(command->request.trigger, SweepTrigger::kApi);
}

TEST_F(ServerTest, RefusesChangesWithoutAConfiguredToken) {
  Start();
  for (const char* path : {"/api/v1/sweeps", "/-/reload"}) {
    const auto refused = client_->Post(path, "{}", "application/json");
    EXPECT_EQ(refused->status, 403) << path;
    EXPECT_EQ(json::parse(refused->body)["code"], "forbidden") << path;
  }
}

TEST_F(ServerTest, ReloadsWhenTheLifecycleIsOn) {
  StartWith("t", true);
  EXPECT_EQ(client_->Get("/-/reload")->status, 405);
  client_->set_bearer_token_auth("t");
  EXPECT_EQ(client_->Post("/-/reload", "", "text/plain")->status, 202);
  EXPECT_EQ(commands_.Pop()->kind, Command::Kind::kReload);
}

TEST_F(ServerTest, BoundsABodyOfUnknownLength) {
  StartWith("t");
  constexpr std::size_t kEnd = 64u << 20;  // more than the buffers between client and server
  std::size_t sent = 0;
  const auto response = client_->Post(
      "/api/v1/sweeps",
      [&](std::size_t offset, httplib::DataSink& sink) {
        sent = offset;
        if (offset >= kEnd) return sink.done(), true;
        return sink.write(std::string(4096, ' ').data(), 4096);
      },
      "application/json");
  // The server responds and closes while the client still sends, so the client may not receive the response.
  if (response) EXPECT_EQ(response->status, 413);
  EXPECT_LT(sent, kEnd);
  EXPECT_EQ(client_->Get("/-/healthy")->status, 200);
}

TEST_F(ServerTest, ARequestCannotNameAProgram) {
  StartWith("t");
  client_->set_bearer_token_auth("t");
  const std::string known = "configured: default or old";
  for (const char* toolchain : {"x=/tmp/evil", "../../tmp/evil", "old/../../tmp/evil", "/bin/sh", "other", "import"}) {
    EXPECT_THAT(MessageOf(json{{"toolchain", toolchain}}.dump()), HasSubstr(known)) << toolchain;
  }
  for (const char* model : {"script:/tmp/evil.py", "script:x.py::0a1b -- --rm", "python:os:getcwd", "python:"}) {
    EXPECT_THAT(MessageOf(json{{"models", {"org/name", model}}}.dump()), HasSubstr("runs code")) << model;
    Plan plan;
    plan.models.resize(1);
    plan.models[0].info.id = model;
    plan.models[0].info.config_source = "script";
    const json body = {{"plan", json::parse(breakwatch::ToJson(plan))}};
    EXPECT_THAT(MessageOf(body.dump()), HasSubstr("runs code")) << model;
  }
  for (const char* field : {"python", "capture", "launcher", "worker", "environment", "env", "endpoint", "cache_dir",
                            "inputs_file", "plan_file", "path", "snapshot_dir", "toolchains", "allow_factories"}) {
    EXPECT_THAT(MessageOf(json{{field, "/tmp/evil"}}.dump()), HasSubstr("unknown field")) << field;
  }
  EXPECT_FALSE(commands_.Pop());
  EXPECT_EQ(StatusOf(R"({"toolchain":"old","models":["org/name@main"],"modes":["eval"],"sort":"likes"})"), 202);
}

TEST_F(ServerTest, AnUnknownNameIsRejectedWithTheKnownNames) {
  StartWith("t");
  client_->set_bearer_token_auth("t");
  EXPECT_THAT(MessageOf(R"({"sort":"stars"})"), HasSubstr("trendingScore"));
  EXPECT_THAT(MessageOf(R"({"modes":["fast"]})"), HasSubstr("fullgraph"));
  EXPECT_EQ(client_->Get("/api/v1/models?family=nlp&status=full_graph")->status, 200);
  EXPECT_EQ(client_->Get("/api/v1/models/org/name?mode=train")->status, 200);
  for (const auto& [path, name] : {std::pair("/api/v1/models?family=text", "reinforcement_learning"),
                                   std::pair("/api/v1/models?status=broken", "skipped_gated"),
                                   std::pair("/api/v1/models/org/name?mode=fast", "fullgraph")}) {
    const auto response = client_->Get(path);
    EXPECT_EQ(response->status, 400) << path;
    EXPECT_THAT(response->body, HasSubstr(name));
  }
}

TEST_F(ServerTest, TheStateOfAnAcceptedRequestIsAvailable) {
  StartWith("t");
  client_->set_bearer_token_auth("t");
  const auto accepted = client_->Post("/api/v1/sweeps", "{}", "application/json");
  ASSERT_EQ(accepted->status, 202);
  const std::string location = accepted->get_header_value("Location");
  EXPECT_EQ(GetJson(location.c_str())["state"], "queued");
  EXPECT_EQ(GetJson(location.c_str())["id"], commands_.Pop()->id);
  EXPECT_EQ(GetJson("/api/v1/requests")["requests"].size(), 1u);
  EXPECT_EQ(client_->Get("/api/v1/requests/api-1")->status, 404);
  ASSERT_EQ(StatusOf("{}"), 202);
  EXPECT_EQ(StatusOf("{}"), 503);  // the queue has one entry: this request is not accepted
  EXPECT_EQ(GetJson("/api/v1/requests")["requests"].size(), 2u);
}

TEST_F(ServerTest, ABodyWithAnInvalidLengthIsRejectedAndItsConnectionClosed) {
  StartWith("t");
  const std::string post = "POST /api/v1/sweeps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t\r\n";
  for (const char* header : {"Content-Length: abc", "Content-Length: -5", "Content-Length: 2x", "Content-Length: +2",
                             "Content-Length: 2\r\nContent-Length: 3", "Content-Length: 99999999999999999999999",
                             "Content-Length: 2\r\nTransfer-Encoding: chunked"}) {
    const std::string answer = AnswerTo(post + header + "\r\n\r\n{}GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << header;
    EXPECT_THAT(answer, HasSubstr("Connection: close"));
    EXPECT_THAT(answer, Not(HasSubstr("healthy"))) << "what follows is no request of its own";
    EXPECT_TRUE(json::accept(answer.substr(answer.find("\r\n\r\n") + 4))) << answer;
  }
  EXPECT_THAT(AnswerTo(post + "Content-Length: 70000\r\n\r\n"), StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(AnswerTo(post + "Transfer-Encoding: gzip\r\n\r\n"), StartsWith("HTTP/1.1 501 "));
  EXPECT_THAT(AnswerTo("GET /-/healthy HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_FALSE(commands_.Pop());
}

TEST_F(ServerTest, ABodyWhereNoneIsAllowedIsNotReadAsARequest) {
  Start();
  const std::string hidden = "GET /-/healthy HTTP/1.1\r\nHost: x\r\n\r\n";
  for (const char* request : {"HEAD /api/v1/models", "HEAD /", "GET /api/v1/models", "GET /"}) {
    const std::string answer =
        AnswerTo(std::string(request) + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(hidden.size()) +
                 "\r\n\r\n" + hidden);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 400 ")) << request;
    EXPECT_THAT(answer, Not(HasSubstr("healthy"))) << request;
  }
}

TEST_F(ServerTest, ARequestHasOneHost) {
  Start();
  EXPECT_THAT(AnswerTo("GET /-/healthy HTTP/1.1\r\nHost: x\r\nHost: example.net\r\nConnection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(ServerTest, ABodyOfAnotherTypeIsNotRead) {
  StartWith("t");
  client_->set_bearer_token_auth("t");
  const httplib::MultipartFormDataItems form = {{"toolchain", "old", "", ""}};
  EXPECT_EQ(client_->Post("/api/v1/sweeps", form)->status, 415);
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "top: 5", "application/yaml")->status, 415);
  EXPECT_FALSE(commands_.Pop());
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{}", "Application/JSON; charset=utf-8")->status, 202);
}

TEST_F(ServerTest, WhatHasNoHandlerIsAnsweredAtOnceWithOrWithoutABody) {
  StartWith("t");
  for (const char* method : {"PUT", "POST", "DELETE", "PATCH", "OPTIONS"}) {
    for (const char* body : {"\r\n", "Content-Length: 2\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n"}) {
      const auto answer = [&](const std::string& path) {
        return AnswerTo(method + (" " + path) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + body);
      };
      EXPECT_THAT(answer("/api/v1/models"), AllOf(StartsWith("HTTP/1.1 405 "), HasSubstr("Allow: GET, HEAD\r\n")))
          << method << body;
      EXPECT_THAT(answer("/nowhere"), StartsWith("HTTP/1.1 404 ")) << method << body;
    }
  }
  EXPECT_THAT(AnswerTo("PUT /api/v1/sweeps HTTP/1.1\r\nConnection: close\r\n\r\n"),
              HasSubstr("Allow: GET, HEAD, POST\r\n"));
  EXPECT_THAT(AnswerTo("GET /-/reload HTTP/1.1\r\nConnection: close\r\n\r\n"), HasSubstr("Allow: POST\r\n"));
}

TEST_F(ServerTest, PagesOfModelsFollowEachOtherInEveryOrder) {
  auto many = std::make_shared<Snapshot>();
  many->toolchain_key = "k";
  for (int i = 0; i < 25; ++i) {
    TrackedModel model;
    model.model = "org/" + std::string(1, static_cast<char>('a' + i));
    model.rank = i % 3;  // ties, and models without a rank
    if (i % 2 == 0) model.downloads = i % 5;
    many->models.push_back(model);
  }
  snapshot_ = many;
  Start();
  for (const std::string sort : {"rank", "-rank", "model", "-downloads", "breaks", "status"}) {
    std::vector<std::string> seen;
    std::string path = "/api/v1/models?limit=4&sort=" + sort;
    for (json page = GetJson(path.c_str());; page = GetJson(path.c_str())) {
      ASSERT_TRUE(page.contains("models")) << page;
      EXPECT_EQ(page["models_matched"], 25);
      for (const json& model : page["models"]) seen.push_back(model["model"]);
      if (page["next"].is_null()) break;
      path = "/api/v1/models?limit=4&sort=" + sort + "&cursor=" + page["next"].get<std::string>();
    }
    EXPECT_EQ(seen.size(), 25u) << sort;
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 25u) << sort;
    if (sort == "rank") EXPECT_EQ(seen.back(), "org/y") << "those without a rank come last";
  }
}

TEST_F(ServerTest, AFilterSelectsModels) {
  Start();
  const auto matched = [&](const std::string& filter) {
    const auto response = client_->Get("/api/v1/models", httplib::Params{{"filter", filter}}, httplib::Headers{});
    return json::parse(response->body).value("models_matched", -1);
  };
  EXPECT_EQ(matched("family:vision"), 1);
  EXPECT_EQ(matched("org/* and not reason:GB0170"), 1);
  EXPECT_EQ(matched("family:vision or status:graph_breaks"), 2);
  EXPECT_EQ(matched("other/*"), 0);
  for (const char* wrong : {"familly:vision", "@/etc/passwd", "owner:nobody", "family:text", "("})
    EXPECT_EQ(matched(wrong), -1) << wrong;
  EXPECT_EQ(GetJson("/api/v1/sites?filter=family:vision")["sites_matched"], 0);
  EXPECT_EQ(GetJson("/api/v1/sweeps/s1/results?filter=other/*")["results"].size(), 0u);
}

TEST_F(ServerTest, ListsOfTheStoreArePaged) {
  Start();
  for (const auto& [path, list, rows] : {std::tuple("/api/v1/sweeps?", "sweeps", 2),
                                         {"/api/v1/sweeps/s1/results?", "results", 2},
                                         {"/api/v1/sweeps/s1/plan?", "models", 3},
                                         {"/api/v1/plan?", "models", 3},
                                         {"/api/v1/history?model=org/name&", "history", 2},
                                         {"/api/v1/model-ids?", "models", 2},
                                         {"/api/v1/dead-letters?", "dead_letters", 2},
                                         {"/api/v1/compare?a=s1&b=s2&", "models", 2}}) {
    int pages = 0;
    std::string cursor;
    do {
      const json page = GetJson((std::string(path) + "limit=1" + cursor).c_str());
      ASSERT_TRUE(page.contains(list)) << path << page;
      EXPECT_EQ(page[list].size(), 1u) << path;
      cursor = page["next"].is_null() ? "" : "&cursor=" + page["next"].get<std::string>();
      ++pages;
    } while (!cursor.empty() && pages < 9);
    EXPECT_EQ(pages, rows) << path;
  }
  EXPECT_EQ(GetJson("/api/v1/results")["results"].size(), 2u);
  EXPECT_EQ(client_->Get("/api/v1/sweeps/s1/results?cursor=x")->status, 400);
  EXPECT_EQ(client_->Get("/api/v1/models?cursor=00")->status, 400);
  EXPECT_EQ(client_->Get("/api/v1/sweeps?cursor=s9")->status, 400);
}

TEST_F(ServerTest, SitesAreReadOncePerCapture) {
  Start();
  const json sites = GetJson("/api/v1/sites");
  ASSERT_EQ(sites["sites"].size(), 2u) << sites;
  EXPECT_EQ(sites["sites"][0]["site_id"], "site-1");
  EXPECT_EQ(sites["sites"][0]["families"], json{"nlp"});
  EXPECT_EQ(sites["sites"][0]["fixability"], "setting");
  EXPECT_EQ(sites["sites"][1]["fixability"], "untested");
  const json reason = GetJson("/api/v1/reasons")["reasons"][0];
  EXPECT_EQ(reason["fixed_by"], (json{{"scalars", 1}})) << reason;
  EXPECT_EQ(reason["made_whole"], 1);
  EXPECT_EQ(GetJson("/api/v1/sites?file=c.py")["sites_matched"], 1);
  EXPECT_EQ(GetJson("/api/v1/sites?family=vision")["sites_matched"], 0);
  const json site = GetJson("/api/v1/sites/site-1");
  EXPECT_EQ(site["explanation"], "it depends on data") << site;
  EXPECT_EQ(site["with_site"][0]["model"], "org/broken");
  EXPECT_EQ(client_->Get("/api/v1/sites/site-9")->status, 404);
  EXPECT_EQ(GetJson("/api/v1/reasons/GB0170")["at"].size(), 2u);
  EXPECT_EQ(GetJson("/api/v1/reasons/Data-dependent%20branching")["with_reason"][0]["only_reason"], true);
  EXPECT_EQ(queries_.captures_read, std::vector<std::string>{"c1"});
}

TEST_F(ServerTest, AClientThatHasTheDocumentGetsNoCopy) {
  Start();
  const auto first = client_->Get("/api/v1/models");
  const std::string tag = first->get_header_value("ETag");
  ASSERT_THAT(tag, StartsWith("W/\""));
  const auto again = client_->Get("/api/v1/models", httplib::Headers{{"If-None-Match", "\"x\", " + tag}});
  EXPECT_EQ(again->status, 304);
  EXPECT_TRUE(again->body.empty());
  EXPECT_EQ(again->get_header_value("ETag"), tag);
  EXPECT_EQ(client_->Get("/api/v1/models", httplib::Headers{{"If-None-Match", "W/\"other\""}})->status, 200);
}

TEST_F(ServerTest, DocumentsAreCompressedForClientsThatTakeIt) {
  Start();
  client_->set_decompress(false);
  const auto packed = client_->Get("/api/v1/openapi.json", httplib::Headers{{"Accept-Encoding", "br, gzip"}});
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  EXPECT_LT(packed->body.size(), 20'000u);
  EXPECT_FALSE(client_->Get("/api/v1/openapi.json")->has_header("Content-Encoding"));
}

TEST_F(ServerTest, SendsTheSeriesOfModelsCompressedOrPlainAsTheClientAsks) {
  Start();
  client_->set_decompress(false);
  const auto packed = client_->Get("/metrics/models", httplib::Headers{{"Accept-Encoding", "gzip"}});
  ASSERT_EQ(packed->status, 200);
  EXPECT_EQ(packed->get_header_value("Content-Encoding"), "gzip");
  EXPECT_EQ(packed->get_header_value_count("Content-Length"), 1u);
  const auto plain = client_->Get("/metrics/models");
  EXPECT_FALSE(plain->has_header("Content-Encoding"));
  EXPECT_EQ(plain->body, Exposition(*snapshot_));
  EXPECT_EQ(*Gunzip(packed->body, 1u << 20), plain->body);
  const auto head = client_->Head("/metrics/models");
  EXPECT_EQ(head->get_header_value("Content-Length"), std::to_string(plain->body.size()));
  EXPECT_EQ(client_->Get("/metrics/models", httplib::Headers{{"Accept-Encoding", "identity"}})->body, plain->body);
}

TEST_F(ServerTest, AnotherSitesNameIsNoHostOfThisDaemon) {
  ServerOptions options;
  options.allowed_hosts = {"breakwatch.example.org"};
  Start(options);
  const auto status = [&](const std::string& host) {
    return client_->Get("/api/v1/models", httplib::Headers{{"Host", host}})->status;
  };
  for (const char* host : {"localhost", "127.0.0.1:9723", "[::1]:9723", "breakwatch", "Breakwatch.Example.org:80"})
    EXPECT_EQ(status(host), 200) << host;
  for (const char* host : {"rebound.example.net", "127.0.0.1.example.net:9723", "localhost.",
                           "breakwatch.example.org.evil.example", "localhost:80.example.net", "[::1].example.net", "["})
    EXPECT_EQ(status(host), 421) << host;
}

TEST_F(ServerTest, NoPageOfAnotherSiteCanReadOrEmbedIt) {
  Start();
  const auto response = client_->Get("/api/v1/models", httplib::Headers{{"Origin", "https://example.net"}});
  EXPECT_FALSE(response->has_header("Access-Control-Allow-Origin"));
  EXPECT_THAT(response->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_EQ(response->get_header_value("X-Content-Type-Options"), "nosniff");
}

TEST_F(ServerTest, ErrorsAreProblemsWithTheTextsOfTheCommandLine) {
  Start();
  const auto response = client_->Get("/api/v1/models/org/nane");
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->get_header_value("Content-Type"), "application/problem+json");
  const json problem = json::parse(response->body);
  EXPECT_EQ(problem["title"], "Not Found");
  EXPECT_EQ(problem["status"], 404);
  EXPECT_EQ(problem["code"], "not_found");
  EXPECT_THAT(problem["detail"].get<std::string>(), HasSubstr("did you mean \"org/name\"?"));
}

TEST_F(ServerTest, ARequestCanBeCancelledUntilItEnds) {
  StartWith("t");
  EXPECT_EQ(client_->Post("/api/v1/requests/api-1/cancel", "", "application/json")->status, 401);
  client_->set_bearer_token_auth("t");
  EXPECT_EQ(client_->Post("/api/v1/requests/api-1/cancel", "", "application/json")->status, 404);
  const auto accepted = client_->Post("/api/v1/sweeps", "{}", "application/json");
  const std::string path = accepted->get_header_value("Location"), id = commands_.Pop()->id;
  EXPECT_EQ(client_->Post(path + "/cancel", "", "application/json")->status, 202);
  const auto command = commands_.Pop();
  EXPECT_EQ(command->kind, Command::Kind::kCancel);
  EXPECT_EQ(command->id, id);
  requests_.OnRefused(id, {ErrorCode::kInterrupted, "cancelled"});
  EXPECT_EQ(GetJson(path.c_str())["state"], "cancelled");
  EXPECT_EQ(client_->Post(path + "/cancel", "", "application/json")->status, 409);
}

TEST_F(ServerTest, TheFirstPageOfFiftyThousandModelsComesAtOnce) {
  auto many = std::make_shared<Snapshot>();
  many->toolchain_key = "k";
  for (int i = 0; i < 50'000; ++i) {
    TrackedModel model;
    model.model = "organisation/model-" + std::to_string(i);
    model.rank = 50'000 - i;
    model.numbers["k"].reasons = {{"a reason", "GB0001", "", i % 7, 1}};
    many->models.push_back(std::move(model));
  }
  snapshot_ = many;
  Start();
  ASSERT_EQ(GetJson("/api/v1/models?sort=-breaks")["models"].size(), 100u);
  auto best = std::chrono::milliseconds::max();
  for (int i = 0; i < 5; ++i) {
    const auto began = std::chrono::steady_clock::now();
    ASSERT_EQ(client_->Get("/api/v1/models?sort=-breaks")->status, 200);
    best = std::min(best, std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began));
  }
  EXPECT_LT(best.count(), 100);
}

TEST_F(ServerTest, AResponseThatIsBeingMadeWhenTheServerEndsIsSentWhole) {
  std::promise<void> asked, ending;
  queries_.when_asked = [&] {
    asked.set_value();
    ending.get_future().wait();
  };
  Start();
  httplib::Client idle("http://" + server_->Address());
  idle.set_keep_alive(true);
  ASSERT_EQ(idle.Get("/-/healthy")->status, 200);
  auto response = std::async(std::launch::async, [&] { return client_->Get("/api/v1/sweeps"); });
  asked.get_future().wait();
  auto ended = std::async(std::launch::async, [&] { server_.reset(); });
  pollfd closed{idle.socket(), POLLIN, 0};
  ASSERT_EQ(poll(&closed, 1, 10'000), 1);  // the end has begun: idle connections are closed
  ending.set_value();
  const auto whole = response.get();
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->status, 200);
  EXPECT_TRUE(json::accept(whole->body));
  ended.wait();
}

TEST_F(ServerTest, NamesAnAddressThatIsTaken) {
  Start();
  ServerOptions taken;
  taken.listen_address = server_->Address();
  const auto second = Server::Start(taken, Parts());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message.find(server_->Address()), std::string::npos);
}

TEST_F(ServerTest, AnswersTheUnknownWithJson) {
  Start();
  const auto response = client_->Get("/nowhere");
  EXPECT_EQ(response->status, 404);
  EXPECT_TRUE(json::accept(response->body));
}

}  // namespace
}  // namespace breakwatch::api
