#include <gmock/gmock.h>

#include <csignal>

#include "process.h"
#include "worker_fixture.h"

namespace breakwatch::capture {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DescribeTest : public WorkerFixture {
 protected:
  std::string ErrorOf(const std::string& mode) {
    const auto toolchain = DescribeToolchain(Options(mode), "default");
    return toolchain.ok() ? "" : toolchain.error().message;
  }
};

TEST_F(DescribeTest, ReportsTheToolchainWithoutACapture) {
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

TEST_F(DescribeTest, ReportsThatTheProgramIsMissing) {
  ZygoteOptions options = Options("good");
  options.worker = {"/nonexistent/python"};
  const auto toolchain = DescribeToolchain(options, "default");
  ASSERT_FALSE(toolchain.ok());
  EXPECT_THAT(toolchain.error().message, HasSubstr("/nonexistent/python: No such file"));
}

TEST_F(DescribeTest, ReportsThatNoWorkerIsSet) {
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

TEST(RunProcessTest, ReturnsBothOutputsAndTheCode) {
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

}  // namespace
}  // namespace breakwatch::capture
