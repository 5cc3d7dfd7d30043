#include "breakwatch/api/server.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <nlohmann/json.hpp>

namespace breakwatch::api {
namespace {

using nlohmann::json;

class FakeQueries final : public Queries {
 public:
  Result<std::vector<Sweep>> Sweeps(int limit) override {
    if (broken) return Error{ErrorCode::kStore, "the store is away"};
    return std::vector<Sweep>(static_cast<std::size_t>(std::min(limit, 2)));
  }
  Result<Sweep> FindSweep(const std::string& id) override {
    if (id != "s1") return Error{ErrorCode::kNotFound, "no sweep \"" + id + "\""};
    Sweep sweep;
    sweep.id = id;
    return sweep;
  }
  Result<std::vector<ModelResult>> Results(const std::string&) override { return std::vector<ModelResult>(3); }
  Result<std::vector<ModelResult>> ResultsOf(const std::string& model) override {
    if (model != "org/name") return std::vector<ModelResult>{};
    ModelResult eval, train;
    eval.info.id = train.info.id = model;
    eval.capture.mode = "eval", train.capture.mode = "train";
    eval.capture.segments = {GraphSegment{}, GraphSegment{}};
    eval.capture.segments[0].ended_by = "a site";
    return std::vector<ModelResult>{train, eval};
  }
  bool broken = false;
};

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
  broken.numbers["k"].reasons = {{"Data-dependent branching", "GB0170", "supportable", 4, 2}};
  clean.model = "org/clean";
  clean.family = Family::kVision;
  clean.rank = 1;
  clean.status = Status::kFullGraph;
  clean.numbers["k"].commit = std::string(40, 'b');
  snapshot->models = {broken, clean};
  snapshot->reasons = {{"Data-dependent branching", "GB0170", "supportable", "https://example.org", 1}};
  DeliveryStats loki;
  loki.exporter = "loki";
  loki.events_pending = 7;
  snapshot->delivery = {loki};
  return snapshot;
}

class ServerTest : public testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.listen_address = "127.0.0.1:0";
    options.version = "1.2.3";
    auto started = Server::Start(options, {commands_, queries_, RealClock(), [this] { return snapshot_; },
                                           [] { return ReloadState{}; }, [] { return SweepRequest{}; }});
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    client_ = std::make_unique<httplib::Client>("http://" + server_->Address());
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
  SnapshotPtr snapshot_ = TwoModels();
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

TEST_F(ServerTest, SaysNothingOfSweepsBeforeTheFirst) {
  snapshot_ = std::make_shared<const Snapshot>();
  Start();
  EXPECT_EQ(client_->Get("/metrics")->body.find("breakwatch_sweep_"), std::string::npos);
}

TEST_F(ServerTest, ServesItsOwnMetricsAndTheModels) {
  Start();
  const std::string own = client_->Get("/metrics")->body;
  EXPECT_NE(own.find("breakwatch_build_info{version=\"1.2.3\"} 1"), std::string::npos) << own;
  EXPECT_NE(own.find("process_resident_memory_bytes "), std::string::npos);
  EXPECT_NE(own.find("breakwatch_events_pending{exporter=\"loki\"} 7"), std::string::npos);
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

TEST_F(ServerTest, AnswersQuestionsOfTheStore) {
  Start();
  EXPECT_EQ(GetJson("/api/v1/sweeps")["sweeps"].size(), 2u);
  EXPECT_EQ(GetJson("/api/v1/sweeps/s1")["sweep_id"], "s1");
  EXPECT_EQ(GetJson("/api/v1/sweeps/s1/results")["results"].size(), 3u);
  const json model = GetJson("/api/v1/models/org/name");
  EXPECT_EQ(model["model"], "org/name");
  EXPECT_EQ(model["mode"], "eval");
  EXPECT_EQ(model["segments"].size(), 2u);
  EXPECT_EQ(model["segments"][0]["ended_by"], "a site");
  EXPECT_EQ(model["other_results"][0]["mode"], "train");
  EXPECT_EQ(GetJson("/api/v1/models/org/name?mode=train")["mode"], "train");
  EXPECT_EQ(client_->Get("/api/v1/models/org/name?mode=export")->status, 404);
  EXPECT_EQ(client_->Get("/api/v1/models/org/name?toolchain=other")->status, 404);
  EXPECT_EQ(client_->Get("/api/v1/sweeps/s2")->status, 404);
  EXPECT_EQ(client_->Get("/api/v1/models/org/other")->status, 404);
  queries_.broken = true;
  EXPECT_EQ(client_->Get("/api/v1/sweeps")->status, 500);
}

TEST_F(ServerTest, TakesASweepOnlyWithTheToken) {
  StartWith("s3cret");
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{}", "application/json")->status, 401);
  client_->set_bearer_token_auth("wrong!");
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{}", "application/json")->status, 401);
  client_->set_bearer_token_auth("s3cret");
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{\"tpo\":1}", "application/json")->status, 400);
  const auto accepted = client_->Post("/api/v1/sweeps", "{\"top\":3}", "application/json");
  ASSERT_EQ(accepted->status, 202);
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{}", "application/json")->status, 503);  // the queue holds one
  const auto command = commands_.Pop();
  ASSERT_TRUE(command);
  EXPECT_EQ(command->id, json::parse(accepted->body)["id"]);
  EXPECT_EQ(command->request.list.top, 3);
  EXPECT_EQ(command->request.trigger, "api");
}

TEST_F(ServerTest, RefusesChangesWithoutAConfiguredToken) {
  Start();
  EXPECT_EQ(client_->Post("/api/v1/sweeps", "{}", "application/json")->status, 403);
  EXPECT_EQ(client_->Post("/-/reload", "", "text/plain")->status, 403);
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
  const auto response = client_->Post(
      "/api/v1/sweeps",
      [](std::size_t offset, httplib::DataSink& sink) {
        if (offset > (1u << 20)) return sink.done(), true;
        return sink.write(std::string(4096, ' ').data(), 4096);
      },
      "application/json");
  EXPECT_TRUE(!response || response->status == 413);
  EXPECT_EQ(client_->Get("/-/healthy")->status, 200);
}

TEST_F(ServerTest, NamesAnAddressThatIsTaken) {
  Start();
  ServerOptions taken;
  taken.listen_address = server_->Address();
  const auto second = Server::Start(taken, {commands_, queries_, RealClock(), [] { return SnapshotPtr(); },
                                            [] { return ReloadState{}; }, [] { return SweepRequest{}; }});
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
