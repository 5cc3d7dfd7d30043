// The runner with workers that hang, die, send invalid messages or never start.
#include <gmock/gmock.h>

#include "capture_deadline.h"
#include "worker_fixture.h"

namespace breakwatch::capture {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class RunnerLossTest : public WorkerFixture {
 protected:
  CaptureResult Capture(const std::string& mode) {
    MakeRunner(mode);
    EXPECT_TRUE(runner_->Start(Job("a")).ok());
    return WaitFinished();
  }
};

TEST_F(RunnerLossTest, RetriesACaptureOnceIfItsWorkerIsSilent) {
  const int said = Fifo("said");
  MakeRunner("hang_once");
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(WorkerHolds(said));
  clock_.Advance(std::chrono::seconds{21});
  EXPECT_EQ(WaitFinished().status, Status::kFullGraph);
  EXPECT_EQ(Counts().retried_captures, 1);
  EXPECT_EQ(Counts().started, 2);
  EXPECT_THAT(log_, Contains(AllOf(HasSubstr("sent nothing for 20 s"), HasSubstr("sample/a"))));
  close(said);
}

TEST_F(RunnerLossTest, DoesNotKillAWorkerBeforeItsSilenceIsTooLong) {
  const int said = Fifo("said");
  MakeRunner("hang_once");
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(WorkerHolds(said));
  clock_.Advance(std::chrono::seconds{19});
  runner_->Wait(clock_.Steady(), -1);
  EXPECT_EQ(Counts().lost, 0);
  close(said);
}

TEST_F(RunnerLossTest, GivesUpACaptureAfterTwoSilentWorkersThatIgnoreSigterm) {
  const int said = Fifo("said");
  MakeRunner("stubborn");
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(WorkerHolds(said));
  clock_.Advance(std::chrono::seconds{21});
  ASSERT_TRUE(WorkerHolds(said));
  clock_.Advance(std::chrono::seconds{21});
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kWorkerLost);
  EXPECT_THAT(result.detail, HasSubstr("sent nothing for 20 s"));
  close(said);
}

// Its worker runs and sends messages, which is enough for `silence`.
TEST_F(RunnerLossTest, EndsACaptureWhosePhaseExceedsItsLimitIfTheWorkerDoesNot) {
  const int said = Fifo("said");
  ZygoteOptions options = Options("hang");
  options.silence = std::chrono::hours{24};
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(WorkerHolds(said));
  clock_.Advance(std::chrono::seconds{119});
  EXPECT_FALSE(runner_->Wait(clock_.Steady(), -1).finished);
  clock_.Advance(std::chrono::seconds{7});
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kTimeout);
  EXPECT_EQ(result.detail, "create exceeded its limit of 120 s, and the worker did not end it");
  close(said);
}

TEST(CaptureDeadlineTest, BoundsAnEndlessSequenceOfPhases) {
  CaptureJob job = Job("a");
  const SteadyTime begun{};
  CaptureDeadline deadline(job, milliseconds{5'000}, begun);
  const auto all = std::chrono::seconds{6 * (120 + 30 + 120 + 300)};
  deadline.Enter("capture", begun + all);
  EXPECT_EQ(deadline.Next(), begun + all + milliseconds{5'000});
  EXPECT_THAT(deadline.Passed(deadline.Next()), HasSubstr("the capture exceeded 3420 s, the sum of its limits"));
  job.repeat = 2;
  job.config_json = R"({"model_index": {}, "components": {"unet": {}, "vae": {}}})";
  deadline = CaptureDeadline(job, milliseconds{5'000}, begun);
  deadline.Enter("capture", begun + 4 * all);
  EXPECT_EQ(deadline.Next(), begun + 4 * all + milliseconds{5'000}) << "two components, captured twice";
}

TEST_F(RunnerLossTest, StartsNothingThatNeedsASandboxWithoutOne) {
  ZygoteOptions options = Options("good");
  options.refuse_own = "your own code needs a sandbox: bwrap is not installed";
  MakeRunner(options);
  CaptureJob own = Job("a");
  own.is_source = true;
  ASSERT_TRUE(runner_->Start(own).ok());
  const CaptureResult refused = WaitFinished();
  EXPECT_EQ(refused.status, Status::kNotAttempted);
  EXPECT_EQ(refused.detail, options.refuse_own);
  EXPECT_EQ(refused.sandbox, "none");
  EXPECT_EQ(Counts().started, 0);
  ASSERT_TRUE(runner_->Start(Job("b")).ok());
  EXPECT_EQ(WaitFinished().status, Status::kFullGraph) << "a library's model may go without";
}

TEST_F(RunnerLossTest, RetriesACaptureOnceIfItsWorkerDies) {
  EXPECT_EQ(Capture("dies_once").status, Status::kFullGraph);
  EXPECT_EQ(Counts().lost, 1);
  EXPECT_THAT(log_, ElementsAre(AllOf(HasSubstr("signal 9"), HasSubstr("dying"))));
}

TEST_F(RunnerLossTest, QuotesTheWorkerWhenACaptureLosesTwo) {
  const CaptureResult result = Capture("dies");
  EXPECT_EQ(result.status, Status::kWorkerLost);
  EXPECT_THAT(result.detail, AllOf(HasSubstr("exited with code 7"), HasSubstr("Fatal: no more"), Not(HasSubstr("\n"))));
  EXPECT_EQ(result.error, "Fatal: no more");
  EXPECT_EQ(Counts().started, 2);
  EXPECT_EQ(runner_->Capacity(), 1u);
}

TEST_F(RunnerLossTest, KeepsTheResultOfAWorkerThatDiesRightAfterIt) {
  EXPECT_EQ(Capture("answers_and_dies").status, Status::kFullGraph);
  EXPECT_EQ(Counts().retried_captures, 0);
}

TEST_F(RunnerLossTest, TreatsAnInvalidMessageAsALoss) {
  EXPECT_EQ(Capture("garbage_once").status, Status::kFullGraph);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("an invalid message")));
  const CaptureResult result = Capture("garbage");
  EXPECT_EQ(result.status, Status::kWorkerLost);
  EXPECT_THAT(result.detail, HasSubstr("Traceback"));
}

TEST_F(RunnerLossTest, BoundsTheLineItReads) {
  const CaptureResult result = Capture("huge_line");
  EXPECT_EQ(result.status, Status::kWorkerLost);
  EXPECT_THAT(result.detail, HasSubstr("more than 16 MiB"));
}

TEST_F(RunnerLossTest, BoundsWhatItKeepsOfStandardError) {
  const CaptureResult result = Capture("flood_stderr");
  EXPECT_THAT(result.detail, HasSubstr("the last words"));
  EXPECT_LE(result.error.size(), 16u * 1024);
}

TEST_F(RunnerLossTest, KillsAWorkerThatClosesItsOutputOrInput) {
  EXPECT_THAT(Capture("closes_output").detail, HasSubstr("closed its output"));
  EXPECT_THAT(Capture("closes_input").detail, HasSubstr("closed its input"));
}

TEST_F(RunnerLossTest, KillsWhatALostWorkerLeavesBehind) {
  const int alive = Fifo("alive", O_RDONLY);
  EXPECT_EQ(Capture("orphans").status, Status::kWorkerLost);
  std::string said;
  for (;;) {
    char byte;
    const ssize_t n = read(alive, &byte, 1);
    if (n == 0) break;  // no process has it open
    if (n == 1) {
      said += byte;
      continue;
    }
    pollfd polled{alive, POLLIN, 0};
    ASSERT_EQ(poll(&polled, 1, 10'000), 1) << "a process in a session of its own outlived its worker";
  }
  EXPECT_EQ(said, "up\nup\n");
  close(alive);
}

TEST_F(RunnerLossTest, ReturnsInTimeFromAWorkerThatFloods) {
  runner_ = MakeZygoteRunner(Options("flood"), RealClock());
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  EXPECT_FALSE(runner_->Wait(RealClock().Steady() + milliseconds{200}, -1).finished);
  EXPECT_THAT(runner_->StopAll(), ElementsAre("a"));
}

TEST_F(RunnerLossTest, RefusesToStartWhenTheProgramIsMissing) {
  ZygoteOptions options = Options("good");
  options.worker = {"/nonexistent/python", "-m", "breakwatch_worker"};
  MakeRunner(options);
  const auto started = runner_->Start(Job("a"));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(started.error().message, AllOf(HasSubstr("/nonexistent/python"), HasSubstr("capture.worker")));
  EXPECT_FALSE(runner_->Wait(clock_.Steady(), -1).finished) << "it was not attempted, and the caller knows";
}

TEST_F(RunnerLossTest, LetsACaptureWaitForAWorkerThatWorksWhenNoOtherComesUp) {
  const int said = Fifo("said");
  const int go = Fifo("go");
  ZygoteOptions options = Options("waits");
  const std::string program = folder_ + "/worker.sh";
  std::filesystem::copy(options.worker[0], program);
  options.worker[0] = program;
  options.zygotes = 2;
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(WorkerHolds(said));
  std::filesystem::remove(program);
  ASSERT_TRUE(runner_->Start(Job("b")).ok());
  ASSERT_EQ(write(go, "\n", 1), 1);
  EXPECT_EQ(WaitFinished().job_id, "a");
  ASSERT_TRUE(WorkerHolds(said));
  ASSERT_EQ(write(go, "\n", 1), 1);
  EXPECT_EQ(WaitFinished().job_id, "b");
  EXPECT_EQ(Counts().started, 1);
  close(said), close(go);
}

TEST_F(RunnerLossTest, GivesUpAWorkerThatNeverComesUp) {
  const CaptureResult result = Capture("exit_at_once");
  EXPECT_EQ(result.status, Status::kNotAttempted);
  EXPECT_THAT(result.detail, HasSubstr("No module named 'torch'"));
  EXPECT_EQ(Counts().failed_starts, 3);
  const auto started = runner_->Start(Job("b"));
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(started.error().message, AllOf(HasSubstr("exited with code 3"), HasSubstr("No module named 'torch'")));
  // The environment may have been fixed since then: the runner makes one more attempt.
  clock_.Advance(std::chrono::minutes{1});
  EXPECT_TRUE(runner_->Start(Job("c")).ok());
  EXPECT_EQ(WaitFinished().status, Status::kNotAttempted);
  EXPECT_EQ(Counts().failed_starts, 4);
}

TEST_F(RunnerLossTest, GivesUpAWorkerThatEndsRightAfterHello) {
  const CaptureResult result = Capture("hello_and_exit");
  EXPECT_THAT(result.status, testing::AnyOf(Status::kNotAttempted, Status::kWorkerLost)) << result.detail;
  // In the worst case two starts fail and the third gets the capture before its end is noticed; all of that twice.
  EXPECT_LE(Counts().started, 6);
}

TEST_F(RunnerLossTest, GivesUpAWorkerThatSendsNoHello) {
  const int said = Fifo("said");
  ZygoteOptions options = Options("no_hello");
  options.start_attempts = 2;
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  for (int attempt = 0; attempt < 2; ++attempt) {
    ASSERT_TRUE(WorkerHolds(said));
    clock_.Advance(std::chrono::seconds{121});
  }
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kNotAttempted);
  EXPECT_THAT(result.detail, HasSubstr("sent no hello within 120 s"));
  close(said);
}

TEST_F(RunnerLossTest, NamesBothVersionsOfTheProtocol) {
  const CaptureResult result = Capture("newer_protocol");
  EXPECT_EQ(result.status, Status::kNotAttempted);
  const auto started = runner_->Start(Job("b"));
  ASSERT_FALSE(started.ok());
  EXPECT_THAT(started.error().message, AllOf(HasSubstr("protocol 2"), HasSubstr("protocol 1")));
  EXPECT_FALSE(started.error().retryable);
  EXPECT_EQ(Counts().started, 1);
}

TEST_F(RunnerLossTest, TakesAFirstLineThatIsNotHelloForAFailedStart) {
  EXPECT_THAT(Capture("speaks_first").detail, HasSubstr("sent a message before hello"));
}

TEST_F(RunnerLossTest, StopsAllAndReportsWhatWasRunning) {
  const int said = Fifo("said");
  MakeRunner("stubborn");
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(WorkerHolds(said));
  EXPECT_THAT(runner_->StopAll(), ElementsAre("a"));
  EXPECT_THAT(runner_->StopAll(), ElementsAre());
  EXPECT_EQ(runner_->Capacity(), 1u);
  EXPECT_FALSE(runner_->Wait(clock_.Steady(), -1).finished);
  ASSERT_TRUE(runner_->Start(Job("b")).ok());
  EXPECT_TRUE(WorkerHolds(said)) << "it can be used again";
  close(said);
}

}  // namespace
}  // namespace breakwatch::capture
