#include <gmock/gmock.h>

#include <csignal>

#include "breakwatch/capture/launcher.h"
#include "process.h"
#include "worker_fixture.h"

namespace breakwatch::capture {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

class DescribeTest : public WorkerFixture {
 protected:
  std::string ErrorOf(const std::string& mode) {
    const auto toolchain = DescribeToolchain(Options(mode), "default");
    return toolchain.ok() ? "" : toolchain.error().message;
  }
};

TEST_F(DescribeTest, TellsTheToolchainWithoutACapture) {
  const auto toolchain = DescribeToolchain(Options("good"), "nightly");
  ASSERT_TRUE(toolchain.ok()) << toolchain.error().message;
  EXPECT_EQ(toolchain->Key(), "nightly torch 2.0.0 transformers 5.0.0 python 3.11.2 cpu");
  EXPECT_EQ(toolchain->worker, "fake-1");
}

TEST_F(DescribeTest, QuotesAWorkerThatCannotDescribeItself) {
  EXPECT_THAT(ErrorOf("describe_fails"), AllOf(HasSubstr("code 1"), HasSubstr("No module named 'torch'")));
  EXPECT_THAT(ErrorOf("describe_flood"), HasSubstr("more than 64 KiB"));
  EXPECT_THAT(ErrorOf("describe_newer"), AllOf(HasSubstr("protocol 9"), HasSubstr("protocol 1")));
}

TEST_F(DescribeTest, SaysThatTheProgramIsMissing) {
  ZygoteOptions options = Options("good");
  options.worker = {"/nonexistent/python"};
  const auto toolchain = DescribeToolchain(options, "default");
  ASSERT_FALSE(toolchain.ok());
  EXPECT_THAT(toolchain.error().message, HasSubstr("/nonexistent/python: No such file"));
}

TEST_F(DescribeTest, SaysThatNoWorkerIsSet) {
  ZygoteOptions options;
  EXPECT_THAT(DescribeToolchain(options, "default").error().message, HasSubstr("capture.worker"));
  MakeRunner(options);
  EXPECT_THAT(runner_->Start(Job("a")).error().message, HasSubstr("capture.worker"));
}

TEST(RunProcessTest, KillsAProgramThatTakesTooLong) {
  const auto output =
      RunProcess({"sh", "-c", "echo begun; exec sleep 1000"}, {"PATH=/usr/bin:/bin"}, milliseconds{50}, 1024);
  ASSERT_TRUE(output.ok());
  EXPECT_TRUE(output->timed_out);
}

TEST(RunProcessTest, GivesBothOutputsAndTheCode) {
  const auto output = RunProcess({"sh", "-c", "read x || echo out; echo err >&2; exit 4"}, {"PATH=/usr/bin:/bin"},
                                 milliseconds{10'000}, 1024);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "out\n") << "its input is at its end";
  EXPECT_EQ(output->err, "err\n");
  EXPECT_EQ(output->end.value, 4);
}

TEST(RunProcessTest, StartsWithSignalsAsTheyAreByDefault) {
  signal(SIGPIPE, SIG_IGN);
  const auto output =
      RunProcess({"sh", "-c", "kill -s PIPE $$; echo ignored"}, {"PATH=/usr/bin:/bin"}, milliseconds{10'000}, 1024);
  signal(SIGPIPE, SIG_DFL);
  ASSERT_TRUE(output.ok());
  EXPECT_EQ(output->out, "");
  EXPECT_EQ(output->end.Text(), "killed by signal 13 (Broken pipe)");
}

class LauncherTest : public WorkerFixture {
 protected:
  void SetUp() override {
    choice_ = DefaultLauncher(folder_ + "/scratch", {BREAKWATCH_TEST_DATA, folder_ + "/environment"});
    if (choice_.argv.empty()) GTEST_SKIP() << choice_.why;
  }
  std::string Inside(const std::string& script) {
    std::vector<std::string> argv = choice_.argv;
    argv.insert(argv.end(), {"sh", "-c", script});
    const auto output = RunProcess(argv, {"PATH=/usr/bin:/bin"}, milliseconds{10'000}, 64 * 1024);
    return output.ok() ? output->out + output->err : output.error().message;
  }

  LauncherChoice choice_;
};

TEST_F(LauncherTest, CapturesInTheSandbox) {
  ZygoteOptions options = Options("scratch");
  options.launcher = choice_.argv;
  options.scratch = folder_ + "/scratch";
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kFullGraph) << result.detail;
  EXPECT_THAT(runner_->StopAll(), ElementsAre());
}

TEST_F(LauncherTest, LetsTheWorkerWriteToItsScratchFolderAlone) {
  EXPECT_EQ(Inside("echo x > " + folder_ + "/scratch/file && echo written"), "written\n");
  EXPECT_THAT(Inside("echo x > /etc/breakwatch_was_here"), HasSubstr("Read-only"));
}

TEST_F(LauncherTest, HidesTheNetworkAndOtherProcesses) {
  EXPECT_EQ(Inside("tail -n +3 /proc/net/dev | grep -v lo: | wc -l"), "0\n");
  EXPECT_EQ(Inside("test -d /proc/" + std::to_string(getpid()) + " || echo hidden"), "hidden\n");
}

TEST_F(LauncherTest, ShowsEnvironmentsUnderHiddenFoldersAgain) {
  std::filesystem::create_directories(folder_ + "/environment/bin");
  std::filesystem::create_directories(folder_ + "/other");
  choice_ = DefaultLauncher(folder_ + "/scratch", {folder_ + "/environment"});
  EXPECT_EQ(Inside("ls " + folder_), "environment\nscratch\n");
}

TEST_F(LauncherTest, FindsARelativeProgramInACheckoutUnderAHiddenFolder) {
  std::filesystem::create_directories(folder_ + "/checkout");
  std::filesystem::copy(BREAKWATCH_TEST_DATA "/capture/fake_worker.sh", folder_ + "/checkout/worker.sh");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_ + "/checkout");
  choice_ = DefaultLauncher("scratch", {});
  ZygoteOptions options;
  options.launcher = choice_.argv;
  options.worker = {"./worker.sh", "good"};
  const auto toolchain = DescribeToolchain(options, "default");
  std::filesystem::current_path(before);
  EXPECT_TRUE(toolchain.ok()) << toolchain.error().message;
}

TEST_F(LauncherTest, HidesTheTokenOfTheHub) {
  std::ofstream(folder_ + "/environment_token") << "hf_very_secret";
  setenv("HF_TOKEN_PATH", (folder_ + "/environment_token").c_str(), 1);
  choice_ = DefaultLauncher(folder_ + "/scratch", {folder_});
  unsetenv("HF_TOKEN_PATH");
  EXPECT_EQ(Inside("cat " + folder_ + "/environment_token 2>/dev/null; echo read"), "read\n");
}

TEST(LauncherChoiceTest, SaysHowToMendAMissingSandbox) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nonexistent", 1);
  const LauncherChoice choice = DefaultLauncher("/tmp", {});
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(choice.argv.empty());
  EXPECT_THAT(choice.why, HasSubstr("apt-get install bubblewrap"));
}

}  // namespace
}  // namespace breakwatch::capture
