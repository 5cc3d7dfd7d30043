#include "breakwatch/artifact/runner_process.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fakes/sample_package.h"

namespace breakwatch::artifact {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// A shell script plays the runner where a real package would take long to build.
class RunnerProcessTest : public testing::Test {
 protected:
  RunnerProcessTest() : folder_(fs::path(testing::TempDir()) / ("runner-" + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "scratch");
    fakes::WriteSamplePackage(folder_ / "package");
    options_.scratch = folder_ / "scratch";
    options_.sandbox = false;
    options_.timeout = std::chrono::milliseconds{20'000};
  }
  ~RunnerProcessTest() override { fs::remove_all(folder_); }

  RunnerReport Check(const std::string& script) {
    std::ofstream(folder_ / "runner") << "#!/bin/sh\n" << script << "\n";
    fs::permissions(folder_ / "runner", fs::perms::owner_all);
    options_.program = folder_ / "runner";
    const auto report = RunRunner(options_, "check", folder_ / "package");
    EXPECT_TRUE(report.ok()) << (report ? "" : report.error().message);
    return report ? *report : RunnerReport{};
  }

  const fs::path folder_;
  RunnerOptions options_;
};

TEST_F(RunnerProcessTest, ReturnsTheAnswer) {
  const RunnerReport report = Check(R"(echo '{"status":"wrong_result","detail":"1 of 2 outputs","cases":[]}'; exit 1)");
  EXPECT_EQ(report.status, "wrong_result");
  EXPECT_EQ(report.detail, "1 of 2 outputs");
  EXPECT_TRUE(nlohmann::json::parse(report.json).contains("cases"));
}

TEST_F(RunnerProcessTest, PassesLimitsAndAFolderForTemporaryFiles) {
  options_.threads = 3;
  options_.memory_bytes = 100 << 20;
  const RunnerReport report =
      Check(R"(touch "$TMPDIR/aotinductor_x"; echo "{\"status\":\"ok\",\"detail\":\"$* $(env | wc -l)\"}")");
  EXPECT_THAT(report.detail, HasSubstr("--threads 3 --limit-mb 100 --limit-s 20"));
  EXPECT_TRUE(fs::is_empty(options_.scratch));
}

TEST_F(RunnerProcessTest, ReportsACrash) {
  const RunnerReport report = Check("echo 'free(): invalid pointer' >&2; kill -SEGV $$");
  EXPECT_EQ(report.status, "crashed");
  EXPECT_THAT(report.detail, HasSubstr("signal 11"));
  EXPECT_THAT(report.detail, HasSubstr("invalid pointer"));
  EXPECT_EQ(report.json, "{}");
}

TEST_F(RunnerProcessTest, ReportsACrashBehindALauncher) {
  EXPECT_THAT(Check("exit 139").detail, HasSubstr("signal 11"));
}

TEST_F(RunnerProcessTest, ReportsAnAnswerThatIsNone) {
  for (const char* script : {"exit 3", "echo nothing", "echo '{}'", "echo '[1]'", R"(echo '{"status":1}')"}) {
    EXPECT_EQ(Check(script).status, "crashed") << script;
  }
}

TEST_F(RunnerProcessTest, EndsARunnerThatPrintsTooMuch) {
  EXPECT_EQ(Check("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done").status, "failed_check");
}

TEST_F(RunnerProcessTest, NamesAMissingProgramOrPackage) {
  options_.program = folder_ / "none";
  EXPECT_THAT(RunRunner(options_, "check", folder_ / "package").error().message, HasSubstr("make build"));
  options_.program = "/bin/true";
  EXPECT_EQ(RunRunner(options_, "check", folder_ / "no_package").error().code, ErrorCode::kNotFound);
}

TEST_F(RunnerProcessTest, ShowsThePackageAndNoOtherProgram) {
  options_.program = BREAKWATCH_TEST_LOOKER;
  options_.sandbox = true;
  const auto report = RunRunner(options_, "check", folder_ / "package");
  if (!report) GTEST_SKIP() << report.error().message;
  EXPECT_EQ(report->detail, " manifest.json") << report->sandbox;
}

// The sample is no real package: the runner refuses it, after it has verified its files.
TEST_F(RunnerProcessTest, RunsTheRealRunnerInASandbox) {
  options_.program = BREAKWATCH_RUNNER;
  if (options_.program.empty()) GTEST_SKIP() << "breakwatch-runner was not built: no torch in .venv";
  options_.sandbox = true;
  options_.timeout = std::chrono::milliseconds{100'000};
  const auto report = RunRunner(options_, "check", folder_ / "package");
  if (!report) GTEST_SKIP() << report.error().message;
  EXPECT_EQ(report->status, "failed_check") << report->detail;
  EXPECT_THAT(report->detail, HasSubstr("package.pt2"));
}

}  // namespace
}  // namespace breakwatch::artifact
