// Sweeps by further toolchains, each after that of the primary one with the same models.
#include "engine/loop_fixture.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeModel;

Toolchain Older() {
  Toolchain older = TestToolchain("2.6.0");
  older.name = "older";
  return older;
}

class ToolchainsTest : public LoopFixture {
 protected:
  ToolchainsTest() {
    lister_.Answer(ListOf({FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2))}));
    older_.toolchain = Older();
    open_toolchain_ = [this](const ToolchainRef& asked) -> Result<FurtherToolchain> {
      if (asked.name != "older") return Error{ErrorCode::kUsage, "no toolchain " + asked.name};
      return FurtherToolchain{Older(), &older_};
    };
  }
  fakes::FakeCaptureRunner older_{clock_};
};

TEST_F(ToolchainsTest, EachSweepsTheSameModelsAfterThePrimaryOneAndPublishesNothing) {
  options_.extra_toolchains = {"older"};
  const auto swept = MakeLoop().RunByEveryToolchain({});
  ASSERT_FALSE(swept.error) << swept.error->message;
  ASSERT_EQ(swept.sweeps.size(), 2u);
  EXPECT_EQ(runner_.started.size(), 2u);
  EXPECT_EQ(older_.started.size(), 2u);
  EXPECT_EQ(older_.stops, 1);  // its zygotes end with its sweep
  EXPECT_EQ(swept.sweeps[1].toolchain.Key(), Older().Key());
  EXPECT_EQ(Statuses(swept.sweeps[1].id).size(), 2u);
  const Snapshot& shot = *published_.back().first;
  EXPECT_EQ(shot.toolchain_key, TestToolchain().Key());
  EXPECT_EQ(shot.sweep.sweep_id, swept.sweeps[0].id);
  EXPECT_TRUE(shot.models[0].numbers.contains(Older().Key()));
  EXPECT_EQ(store_->FindSweep("latest")->id, swept.sweeps[0].id);
  ExpectFoldEqualsHistory();
}

TEST_F(ToolchainsTest, TheWorkersOfEachAreCountedAfterItsSweepToo) {
  runner_.workers = WorkerCounts{.started = 2};
  older_.workers = WorkerCounts{.started = 3, .lost = 1};
  options_.extra_toolchains = {"older"};
  Loop loop = MakeLoop();
  ASSERT_FALSE(loop.RunByEveryToolchain({}).error);
  runner_.workers->lost = 1;
  ASSERT_TRUE(loop.RunSweep({}).ok());
  const auto& workers = published_.back().first->workers;
  EXPECT_EQ(workers.at(TestToolchain().name), (WorkerCounts{.started = 2, .lost = 1}));
  EXPECT_EQ(workers.at("older"), (WorkerCounts{.started = 3, .lost = 1}));
}

TEST_F(ToolchainsTest, WorkersAreNotInSnapshotsIfTheProcessTakesTheirCounts) {
  WorkersOfAll taken;
  count_workers_ = [&](const WorkersOfAll& workers) { taken = workers; };
  runner_.workers = WorkerCounts{.started = 2};
  ASSERT_TRUE(RunSweep().ok());
  EXPECT_EQ(taken.at(TestToolchain().name).started, 2);
  EXPECT_TRUE(published_.back().first->workers.empty());
}

TEST_F(ToolchainsTest, ARequestThatNamesOneIsSweptByThatOneOnly) {
  options_.extra_toolchains = {"older"};
  SweepRequest request;
  request.toolchain.name = "older";
  const auto swept = MakeLoop().RunByEveryToolchain(request);
  ASSERT_EQ(swept.sweeps.size(), 1u);
  EXPECT_TRUE(runner_.started.empty());
  EXPECT_EQ(older_.started.size(), 2u);
}

TEST_F(ToolchainsTest, TheRequesterGetsOneReportAfterTheSweepsOfAll) {
  options_.extra_toolchains = {"nobody", "older"};
  Ask("c1");
  runner_.on_wait = [this] {
    if (!progress_.served.empty()) Stop();
  };
  ASSERT_TRUE(MakeLoop().Serve().ok());
  EXPECT_EQ(progress_.finished_when_served, 2u);
  EXPECT_EQ(progress_.accepted.size(), 1u);
  ASSERT_EQ(progress_.served.size(), 1u);
  EXPECT_EQ(progress_.served[0].first, "c1");
  EXPECT_NE(progress_.served[0].second.find("no toolchain nobody"), std::string::npos) << progress_.served[0].second;
}

TEST_F(ToolchainsTest, AnInterpreterWithoutASettingIsPassedWithTheName) {
  ToolchainRef opened;
  open_toolchain_ = [&](const ToolchainRef& requested) -> Result<FurtherToolchain> {
    opened = requested;
    return FurtherToolchain{Older(), &older_};
  };
  SweepRequest request;
  request.toolchain = {"older", "/opt/older/bin/python"};
  const auto sweep = RunSweep(request);
  ASSERT_TRUE(sweep.ok()) << sweep.error().message;
  EXPECT_EQ(opened, request.toolchain);
  EXPECT_EQ(sweep->toolchain.name, "older");
}

TEST_F(ToolchainsTest, AnImportedCaptureIsStoredAndNothingIsCaptured) {
  options_.extra_toolchains = {"older"};
  options_.plan.verify_share = 1;
  runner_.workers = WorkerCounts{.started = 2};
  ASSERT_TRUE(RunSweep().ok());
  const std::size_t captured = runner_.started.size();
  SweepRequest request;
  request.trigger = SweepTrigger::kTraceImport, request.toolchain.name = kImport;
  Plan& plan = request.saved_plan.emplace();
  plan.source = "import /traces/1";
  plan.models.resize(1);
  plan.models[0].info.id = "org/job", plan.models[0].info.sha = "c0ffee";
  plan.models[0].config_json = R"({"trace":{"digest":"1"}})", plan.models[0].mode = kImport;
  CaptureResult& imported = request.imported.emplace();
  imported.status = Status::kGraphBreaks, imported.detail = "2 breaks", imported.breaks = 2;
  imported.mode = kImport, imported.toolchain = {kImport, "2.14.0", "", "3.11.2", "reader", ""};
  const auto swept = MakeLoop().RunByEveryToolchain(request);
  ASSERT_FALSE(swept.error) << swept.error->message;
  ASSERT_EQ(swept.sweeps.size(), 1u);
  EXPECT_TRUE(swept.sweeps[0].complete);
  EXPECT_EQ(runner_.started.size() + older_.started.size(), captured);
  const auto results = Results(swept.sweeps[0].id);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].capture.breaks, 2);
  EXPECT_EQ(results[0].capture.toolchain.torch, "2.14.0");
  EXPECT_NE(store_->FindSweep("latest")->id, swept.sweeps[0].id);
  EXPECT_EQ(published_.back().first->models.size(), 2u) << "the import is in no ranking";
  EXPECT_EQ(published_.back().first->workers.at(TestToolchain().name).started, 2);
  ExpectFoldEqualsHistory();
}

TEST_F(ToolchainsTest, OneThatIsNotThereFailsItsOwnSweepOnly) {
  options_.extra_toolchains = {"nobody", "older"};
  const auto swept = MakeLoop().RunByEveryToolchain({});
  EXPECT_EQ(swept.sweeps.size(), 2u);
  ASSERT_TRUE(swept.error);
  EXPECT_NE(swept.error->message.find("nobody"), std::string::npos);
}

TEST_F(ToolchainsTest, AReloadDuringTheSweepOfOneDoesNotLeaveOutThoseAfterIt) {
  const std::string last = "a-name-longer-than-a-string-keeps-in-place";
  options_.extra_toolchains = {"older", last};
  std::vector<std::string> opened;
  open_toolchain_ = [&](const ToolchainRef& toolchain) -> Result<FurtherToolchain> {
    opened.push_back(toolchain.name);
    return FurtherToolchain{Older(), &older_};
  };
  reload_ = [this] {
    LoopOptions reloaded = options_;
    reloaded.extra_toolchains.clear();
    return Result<LoopOptions>(reloaded);
  };
  older_.on_wait = [this] {
    if (std::exchange(asked_, true)) return;
    Command reload;
    reload.kind = Command::Kind::kReload;
    ASSERT_TRUE(commands_.Push(reload));
  };
  const auto swept = MakeLoop().RunByEveryToolchain({});
  EXPECT_EQ(EventCounts()["config_reloaded"], 1);
  EXPECT_EQ(opened, (std::vector<std::string>{"older", last}));
  EXPECT_EQ(swept.sweeps.size(), 3u);
}

TEST_F(ToolchainsTest, ASweepThatWasInterruptedIsResumedByItsOwnToolchain) {
  SweepRequest request;
  request.toolchain.name = "older";
  older_.on_wait = [this] {
    if (!std::exchange(asked_, true)) Stop();
  };
  ASSERT_FALSE(RunSweep(request).ok());
  const auto resumed = Resume();
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_TRUE(resumed->complete);
  EXPECT_TRUE(runner_.started.empty());
  ExpectFoldEqualsHistory();
}

TEST_F(ToolchainsTest, TheUsersInputsAndRepeatsGoWithEachJobAndMakeAnotherStructure) {
  ASSERT_TRUE(RunSweep().ok());
  options_.plan.inputs_specs = {{"org/a", R"({"input_ids":{"shape":[1,4]}})"}};
  ASSERT_TRUE(RunSweep().ok());
  ASSERT_EQ(runner_.started.size(), 3u);  // org/b is unchanged
  EXPECT_EQ(runner_.started[2].inputs_spec_json, R"({"input_ids":{"shape":[1,4]}})");
  options_.plan.repeat = 3;
  ASSERT_TRUE(RunSweep().ok());
  ASSERT_EQ(runner_.started.size(), 5u);
  EXPECT_EQ(runner_.started[4].repeat, 3);
}

}  // namespace
}  // namespace breakwatch::engine
