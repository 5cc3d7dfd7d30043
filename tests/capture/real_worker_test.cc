// One capture by the real worker, in the sandbox if there is one. Takes as long as importing torch.
#include "breakwatch/capture/launcher.h"
#include "worker_fixture.h"

namespace breakwatch::capture {
namespace {

class RealWorkerTest : public WorkerFixture {
 protected:
  void SetUp() override {
    const std::string package = BREAKWATCH_SOURCE_DIR "/collectors/capture/worker";
    const std::string python = BREAKWATCH_SOURCE_DIR "/.venv/bin/python";
    if (!std::filesystem::exists(package + "/breakwatch_worker/__main__.py"))
      GTEST_SKIP() << "no worker in " << package;
    if (!std::filesystem::exists(python)) GTEST_SKIP() << "no environment: `make build` makes .venv";
    options_ = Options("");
    options_.worker = {python, "-m", "breakwatch_worker"};
    options_.environment["PYTHONPATH"] = package;
    options_.scratch = folder_ + "/scratch";
    SandboxOptions sandbox;
    sandbox.worker = options_.worker;
    sandbox.readable = {package};
    sandbox.confine = {BREAKWATCH_TEST_CONFINE};
    options_.launcher = DefaultLauncher(sandbox).argv;
  }
  ZygoteOptions options_;
};

TEST_F(RealWorkerTest, CapturesASmallModelOnTheToolchainItDescribed) {
  const auto toolchain = DescribeToolchain(options_, "default");
  ASSERT_TRUE(toolchain.ok()) << toolchain.error().message;
  runner_ = MakeZygoteRunner(options_, RealClock());
  CaptureJob job = Job("a");
  job.config_json = R"({"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 32,
      "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": 128})";
  job.task = "fill-mask";
  job.library = "transformers";
  ASSERT_TRUE(runner_->Start(job).ok());
  const auto waited = runner_->Wait(RealClock().Steady() + std::chrono::seconds{100}, -1);
  ASSERT_TRUE(waited.finished);
  EXPECT_TRUE(HasNumbers(waited.finished->status)) << waited.finished->detail << "\n" << waited.finished->error;
  EXPECT_EQ(waited.finished->toolchain.Key(), toolchain->Key());
  EXPECT_GT(waited.finished->ops_captured.value_or(0), 0);
}

}  // namespace
}  // namespace breakwatch::capture
