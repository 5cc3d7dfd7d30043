// Sweeps by further toolchains, each after the primary one's with the same models.
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
    open_toolchain_ = [this](const std::string& name) -> Result<FurtherToolchain> {
      if (name != "older") return Error{ErrorCode::kUsage, "no toolchain " + name};
      return FurtherToolchain{Older(), &older_};
    };
  }
  fakes::FakeCaptureRunner older_{clock_};
};

TEST_F(ToolchainsTest, EachSweepsTheSameModelsAfterThePrimaryOneAndPublishesNothingOfIts) {
  options_.extra_toolchains = {"older"};
  const auto swept = MakeLoop().RunSweeps({});
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

TEST_F(ToolchainsTest, ARequestThatNamesOneIsSweptByThatOneAlone) {
  options_.extra_toolchains = {"older"};
  SweepRequest request;
  request.toolchain = "older";
  const auto swept = MakeLoop().RunSweeps(request);
  ASSERT_EQ(swept.sweeps.size(), 1u);
  EXPECT_TRUE(runner_.started.empty());
  EXPECT_EQ(older_.started.size(), 2u);
}

TEST_F(ToolchainsTest, OneThatIsNotThereFailsItsOwnSweepOnly) {
  options_.extra_toolchains = {"nobody", "older"};
  const auto swept = MakeLoop().RunSweeps({});
  EXPECT_EQ(swept.sweeps.size(), 2u);
  ASSERT_TRUE(swept.error);
  EXPECT_NE(swept.error->message.find("nobody"), std::string::npos);
}

TEST_F(ToolchainsTest, ASweepThatWasInterruptedIsResumedByItsOwnToolchain) {
  SweepRequest request;
  request.toolchain = "older";
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
  ASSERT_EQ(runner_.started.size(), 3u);  // org/b is as before
  EXPECT_EQ(runner_.started[2].inputs_spec_json, R"({"input_ids":{"shape":[1,4]}})");
  options_.plan.repeat = 3;
  ASSERT_TRUE(RunSweep().ok());
  ASSERT_EQ(runner_.started.size(), 5u);
  EXPECT_EQ(runner_.started[4].repeat, 3);
}

}  // namespace
}  // namespace breakwatch::engine
