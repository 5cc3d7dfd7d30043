#include "store_fixture.h"

#include <stdlib.h>

#include <array>
#include <stdexcept>

#include "dialect.h"

namespace breakwatch::store {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "breakwatch-store-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Toolchain SampleToolchain() { return {"default", "2.15.0", "5.23.0", "3.11.2", "worker-1", "cpu"}; }

Sweep SampleSweep(const std::string& id) {
  Sweep sweep;
  sweep.id = id;
  sweep.trigger = SweepTrigger::kCli;
  sweep.source = "directory /models";
  sweep.ranked = true;
  sweep.started_at = SystemTime{std::chrono::nanoseconds{1'700'000'000'123'456'789}};
  sweep.toolchain = SampleToolchain();
  return sweep;
}

Sweep FinishedSweep(const std::string& id) {
  Sweep sweep = SampleSweep(id);
  sweep.state = SweepState::kFinished;
  return sweep;
}

PlannedModel SamplePlanned(const std::string& model) {
  PlannedModel planned;
  planned.info.id = model;
  planned.info.sha = std::string(40, 'a');
  planned.info.family = Family::kNlp;
  planned.config_json = R"({"hidden_size":32,"model_type":"sample"})";
  planned.structure = "structure-" + model;
  planned.action = Action::kCapture;
  planned.reason = "new model";
  return planned;
}

Plan SamplePlan(const std::string& sweep_id, const std::vector<std::string>& models) {
  Plan plan;
  plan.sweep_id = sweep_id;
  plan.source = "directory /models";
  plan.ranked = true;
  plan.toolchain = SampleToolchain();
  for (const auto& model : models) plan.models.push_back(SamplePlanned(model));
  return plan;
}

ModelResult SampleResult(const std::string& sweep_id, const std::string& model) {
  ModelResult result;
  result.sweep_id = sweep_id;
  result.info = SamplePlanned(model).info;
  result.info.downloads = 1234;
  result.structure = "structure-" + model;
  result.capture_id = "capture-" + sweep_id + "-" + model;
  result.rebuild_reason = "new model";
  result.finished_at = SystemTime{std::chrono::nanoseconds{1'700'000'100'000'000'001}};
  CaptureResult& capture = result.capture;
  capture.job_id = "7";
  capture.status = Status::kGraphBreaks;
  capture.detail = "2 breaks at 1 site";
  capture.phase = "done";
  capture.architecture = "SampleModel";
  capture.mode = "eval";
  capture.device = "cpu";
  capture.dtype = "float32";
  capture.depth = "reduced";
  capture.graphs = 3;
  capture.breaks = 2;
  capture.break_sites = 1;
  capture.phase_s = {{"create", 0.1}, {"capture", 1.0 / 3.0}};
  capture.capture_s = 0.4333333333333333;
  capture.inputs_json = R"({"input_ids":[1,16]})";
  capture.toolchain = SampleToolchain();
  capture.started_at = SystemTime{std::chrono::nanoseconds{1'700'000'099'000'000'001}};
  BreakSite site;
  site.site_id = "0123456789abcdef";
  site.reason = "Data-dependent branching";
  site.gb_id = "GB0170";
  site.fixability = "fundamental";
  site.hints = {"use torch.cond"};
  site.file = "modeling_sample.py";
  site.line = 17;
  site.function = "forward";
  site.occurrences = 2;
  capture.sites = {site};
  return result;
}

Event SampleEvent(const std::string& name, const std::string& model) {
  return {name, Level::kInfo, "s1", model, model.empty() ? "" : std::string(40, 'a'), R"({"count":1})"};
}

TrackedModel SampleTracked(const std::string& model) {
  TrackedModel tracked;
  tracked.model = model;
  tracked.tracked = true;
  tracked.family = Family::kVision;
  tracked.commit = std::string(40, 'a');
  tracked.status = Status::kGraphBreaks;
  tracked.detail = "2 breaks";
  tracked.numbers["a toolchain"].reasons = {{"Data-dependent branching", "GB0170", "fundamental", 2, 1}};
  tracked.numbers["a toolchain"].phase_s = {{"capture", 1.0 / 3.0}};
  return tracked;
}

Result<void> AppendOne(SweepStore& store, const ModelResult& result, std::span<const Event> events,
                       const CurrentChange& change) {
  const std::array writes{ResultWrite{result, {events.begin(), events.end()}, change}};
  return store.AppendResults(writes);
}

void StoreTest::SetUp() {
  if (const std::string why = GetParam()->Unavailable(); !why.empty()) GTEST_SKIP() << why;
  url_ = GetParam()->NewDatabase();
  store_ = Open();
}

std::unique_ptr<Store> StoreTest::Open(bool read_only) {
  StoreOptions options{url_, read_only};
  options.on_damage = [this](const Damage& damage) { reported_.push_back(Describe(damage)); };
  auto opened = Store::Open(options, clock_);
  if (!opened) throw std::runtime_error(opened.error().message);
  return std::move(*opened);
}

void StoreTest::Begin(const std::string& sweep_id, const std::vector<std::string>& models) {
  ASSERT_OK(store_->BeginSweep(SampleSweep(sweep_id), SamplePlan(sweep_id, models), {}, {}, {}));
}

void StoreTest::Append(const ModelResult& result) { ASSERT_OK(AppendOne(*store_, result)); }

void StoreTest::StoreThreeModels() {
  Begin("s1", {"a/a", "b/b", "c/c"});
  const std::vector<Event> events{SampleEvent("model_captured")};
  for (const char* model : {"a/a", "b/b", "c/c"}) {
    CurrentChange change;
    change.upserts = {SampleTracked(model)};
    ASSERT_OK(AppendOne(*store_, SampleResult("s1", model), events, change));
  }
  Finish("s1");
  ASSERT_OK(store_->Check());
}

void StoreTest::Break(const std::string& statement) {
  store_.reset();
  auto dialect = MakeDialect(url_, std::chrono::seconds{10});
  ASSERT_OK(dialect);
  soci::session sql;
  (*dialect)->Connect(sql, /*read_only=*/false);
  sql << statement;
  sql.close();
  store_ = Open();
}

void StoreTest::Finish(const std::string& sweep_id) { ASSERT_OK(store_->FinishSweep(FinishedSweep(sweep_id), {}, {})); }

void StoreTest::FinishWith(TrendChange trends) {
  const std::string id = "s" + std::to_string(store_->Sweeps(1'000)->size() + 1);
  Begin(id, {"a/b"});
  CurrentChange change;
  change.trends = std::move(trends);
  ASSERT_OK(store_->FinishSweep(FinishedSweep(id), {}, change));
}

}  // namespace breakwatch::store
