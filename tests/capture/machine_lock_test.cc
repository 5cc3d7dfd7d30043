// Measurements run alone: one runner's captures, and two runners with one lock file, as two processes have.
#include "machine_lock.h"

#include <gmock/gmock.h>

#include "breakwatch/core/measure.h"
#include "worker_fixture.h"

namespace breakwatch::capture {
namespace {

using testing::HasSubstr;

CaptureJob Measurement(const std::string& id) {
  CaptureJob job = Job(id);
  job.mode = "bench";
  job.measure_json = MeasureJson({});
  return job;
}

class MachineLockTest : public WorkerFixture {
 protected:
  ZygoteOptions Locked(const std::string& mode) {
    ZygoteOptions options = Options(mode);
    options.zygotes = 2;
    options.lock_file = Path();
    return options;
  }
  std::string Path() const { return folder_ + "/lock"; }
};

TEST_F(MachineLockTest, IsSharedOrExclusive) {
  MachineLock a(Path()), b(Path());
  EXPECT_TRUE(*a.Take(false));
  EXPECT_TRUE(*b.Take(false));
  EXPECT_FALSE(*a.Take(true));
  b.Release();
  EXPECT_TRUE(*a.Take(true));
  EXPECT_TRUE(*a.Take(false)) << "it holds more than that";
  EXPECT_FALSE(*b.Take(false));
  a.Release();
  EXPECT_TRUE(*b.Take(true));
}

TEST_F(MachineLockTest, ReportsAFileThatCannotBeOpened) {
  MachineLock none(""), link(folder_ + "/link");
  EXPECT_TRUE(*none.Take(true));
  std::filesystem::create_symlink("/etc/passwd", folder_ + "/link");
  const auto taken = link.Take(true);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr("measure.lock_file"));
}

TEST_F(MachineLockTest, AMeasurementTakesTheWholeRunner) {
  MakeRunner(Locked("good"));
  EXPECT_EQ(runner_->Capacity(), 2u);
  ASSERT_TRUE(runner_->Start(Measurement("m")).ok());
  EXPECT_EQ(runner_->Capacity(), 0u);
  EXPECT_EQ(WaitFinished().job_id, "m");
  EXPECT_EQ(runner_->Capacity(), 2u);
}

TEST_F(MachineLockTest, AMeasurementStartsAfterTheCapturesBeforeIt) {
  MakeRunner(Locked("good"));
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(runner_->Start(Measurement("m")).ok());
  EXPECT_EQ(WaitFinished().job_id, "a");
  EXPECT_EQ(WaitFinished().job_id, "m");
  EXPECT_EQ(runner_->Waiting(), "");
}

TEST_F(MachineLockTest, EverythingWaitsForAMeasurementOfAnotherProcess) {
  MachineLock other(Path());
  ASSERT_TRUE(*other.Take(true));
  MakeRunner(Locked("good"));
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  EXPECT_FALSE(WaitLong().finished) << "it returns as soon as it has to wait";
  EXPECT_THAT(runner_->Waiting(), HasSubstr("waits for another measurement on this machine"));
  other.Release();
  clock_.Advance(std::chrono::seconds(1));
  while (runner_->Waiting() != "") WaitLong();
  EXPECT_EQ(WaitFinished().job_id, "a");
}

TEST_F(MachineLockTest, AMeasurementWaitsForACaptureOfAnotherProcess) {
  MachineLock other(Path());
  ASSERT_TRUE(*other.Take(false));
  MakeRunner(Locked("good"));
  ASSERT_TRUE(runner_->Start(Measurement("m")).ok());
  EXPECT_FALSE(WaitLong().finished);
  EXPECT_THAT(runner_->Waiting(), HasSubstr("measurement or capture"));
  EXPECT_EQ(runner_->StopAll(), std::vector<std::string>{"m"});
  EXPECT_TRUE(*other.Take(true)) << "it held no lock";
}

TEST_F(MachineLockTest, ACaptureWithoutTheLockIsMadeAndAMeasurementIsNot) {
  ZygoteOptions options = Locked("good");
  options.lock_file = folder_ + "/no/such/folder";
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  EXPECT_EQ(WaitFinished().status, Status::kFullGraph);
  ASSERT_TRUE(runner_->Start(Measurement("m")).ok());
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kNotAttempted);
  EXPECT_THAT(result.detail, HasSubstr("a measurement must run alone: cannot lock"));
}

}  // namespace
}  // namespace breakwatch::capture
