// The runner with workers that follow the protocol.
#include <gmock/gmock.h>
#include <sys/eventfd.h>

#include <set>
#include <thread>

#include "worker_fixture.h"

namespace breakwatch::capture {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RunnerTest : public WorkerFixture {};

TEST_F(RunnerTest, ReturnsTheResultOfACapture) {
  MakeRunner("good");
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.job_id, "a");
  EXPECT_EQ(result.status, Status::kFullGraph);
  EXPECT_EQ(result.graphs, 1);
  EXPECT_EQ(result.toolchain.Key(), "default torch 2.0.0 transformers 5.0.0 python 3.11.2 cpu");
}

TEST_F(RunnerTest, StartsNoProcessBeforeTheFirstCapture) {
  MakeRunner("good");
  EXPECT_EQ(runner_->Capacity(), 1u);
  runner_->Wait(clock_.Steady(), -1);
  EXPECT_EQ(Counts().started, 0);
}

TEST_F(RunnerTest, UsesOneProcessForManyCaptures) {
  MakeRunner("good");
  for (const char* id : {"a", "b", "c"}) {
    ASSERT_TRUE(runner_->Start(Job(id)).ok());
    EXPECT_EQ(WaitFinished().job_id, id);
  }
  EXPECT_EQ(Counts().started, 1);
}

TEST_F(RunnerTest, CapturesAsManyAtATimeAsThereAreZygotes) {
  const int said = Fifo("said");
  const int go = Fifo("go");
  ZygoteOptions options = Options("waits");
  options.zygotes = 2;
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(runner_->Start(Job("b")).ok());
  EXPECT_EQ(runner_->Capacity(), 0u);
  EXPECT_FALSE(runner_->Start(Job("c")).ok());
  // Both zygotes have a capture before either may continue.
  std::string held;
  while (held.size() < 4) {
    ASSERT_TRUE(runner_->Wait(clock_.Steady() + kPatience, said).woken);
    char byte;
    while (read(said, &byte, 1) == 1) held += byte;
  }
  ASSERT_EQ(write(go, "\n\n", 2), 2);
  const std::set<std::string> ids = {WaitFinished().job_id, WaitFinished().job_id};
  EXPECT_EQ(ids, (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(runner_->Capacity(), 2u);
  close(said), close(go);
}

TEST_F(RunnerTest, MeasuresACaptureByItsClock) {
  const int said = Fifo("said");
  const int go = Fifo("go");
  MakeRunner("waits");
  const SystemTime began = clock_.Now();
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  ASSERT_TRUE(WorkerHolds(said));
  clock_.Advance(std::chrono::seconds{7});
  ASSERT_EQ(write(go, "\n", 1), 1);
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.wall_s, 7.0);
  EXPECT_EQ(result.started_at, began);
  close(said), close(go);
}

TEST_F(RunnerTest, ReturnsWhenTheTimeHasPassed) {
  MakeRunner("good");
  const auto waited = runner_->Wait(clock_.Steady() + milliseconds{20}, -1);
  EXPECT_FALSE(waited.finished || waited.woken);
}

TEST_F(RunnerTest, ReturnsWhenWoken) {
  const int wake = eventfd(1, EFD_CLOEXEC);
  MakeRunner("good");
  const auto waited = runner_->Wait(SteadyTime::max(), wake);
  EXPECT_TRUE(waited.woken);
  EXPECT_FALSE(waited.finished);
  close(wake);
}

TEST_F(RunnerTest, StaysResponsiveWhileAWorkerDoesNotReadALargeCapture) {
  const int said = Fifo("said");
  const int go = Fifo("go");
  MakeRunner("slow_reader");
  CaptureJob job = Job("a");
  job.config_json = R"({"model_type": "bert", "padding": ")" + std::string(300'000, 'x') + "\"}";
  ASSERT_TRUE(runner_->Start(job).ok());
  ASSERT_TRUE(WorkerHolds(said));
  const auto waited = runner_->Wait(clock_.Steady() + milliseconds{20}, -1);
  EXPECT_FALSE(waited.finished);
  ASSERT_EQ(write(go, "\n", 1), 1);
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kFullGraph) << result.detail;
  EXPECT_GT(std::atoi(result.detail.c_str()), 300'000);
  close(said), close(go);
}

TEST_F(RunnerTest, SendsAConfigWithLineBreaksAsOneLine) {
  MakeRunner("good");
  CaptureJob job = Job("a");
  job.config_json = "{\n  \"model_type\": \"bert\"\r\n}\n";
  ASSERT_TRUE(runner_->Start(job).ok());
  EXPECT_EQ(WaitFinished().status, Status::kFullGraph);
}

TEST_F(RunnerTest, RefusesToSendMoreThanALineHolds) {
  MakeRunner("good");
  CaptureJob job = Job("a");
  job.config_json = R"({"padding": ")" + std::string(17u << 20, 'x') + "\"}";
  ASSERT_TRUE(runner_->Start(job).ok());
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kSkippedTooLarge);
  EXPECT_THAT(result.detail, HasSubstr("16777216"));
}

TEST_F(RunnerTest, IgnoresAndCountsResultsOfCapturesThatHaveEnded) {
  MakeRunner("twice");
  for (const char* id : {"a", "b"}) {
    ASSERT_TRUE(runner_->Start(Job(id)).ok());
    EXPECT_EQ(WaitFinished().job_id, id);
  }
  EXPECT_GE(Counts().ignored_results, 2);
  EXPECT_FALSE(runner_->Wait(clock_.Steady(), -1).finished);
}

TEST_F(RunnerTest, IgnoresMessagesOfANewerWorker) {
  MakeRunner("newer_messages");
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  EXPECT_EQ(WaitFinished().status, Status::kFullGraph);
}

TEST_F(RunnerTest, ReturnsACaptureThatTheWorkerCannotRead) {
  MakeRunner("refuses");
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  const CaptureResult result = WaitFinished();
  EXPECT_EQ(result.status, Status::kNotAttempted);
  EXPECT_THAT(result.detail, HasSubstr("no such field"));
}

TEST_F(RunnerTest, KeepsSecretsFromTheWorker) {
  setenv("HF_TOKEN", "hf_very_secret", 1);
  setenv("my_service_password", "very_secret_too", 1);
  setenv("SOMETHING_ELSE", "very_secret_perhaps", 1);
  setenv("WANTED_FOLDER", "/wanted", 1);
  ZygoteOptions options = Options("environment");
  options.pass = {"WANTED_*"};
  options.environment["PYTHONPATH"] = "/somewhere";
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  WaitFinished();
  for (const char* name : {"HF_TOKEN", "my_service_password", "SOMETHING_ELSE", "WANTED_FOLDER"}) unsetenv(name);
  EXPECT_THAT(Contents("environment"), AllOf(Not(HasSubstr("very_secret")), HasSubstr("PYTHONPATH=/somewhere\n"),
                                             HasSubstr("PATH="), HasSubstr("WANTED_FOLDER=/wanted\n")));
}

TEST_F(RunnerTest, RemovesWhatAWorkerLeavesInItsScratchFolder) {
  ZygoteOptions options = Options("scratch");
  options.scratch = folder_ + "/scratch";
  MakeRunner(options);
  ASSERT_TRUE(runner_->Start(Job("a")).ok());
  EXPECT_EQ(WaitFinished().status, Status::kFullGraph);
  EXPECT_FALSE(std::filesystem::is_empty(options.scratch));
  runner_->StopAll();
  EXPECT_TRUE(std::filesystem::is_empty(options.scratch));
}

TEST_F(RunnerTest, RemovesScratchFoldersOfDaemonsThatAreGone) {
  ZygoteOptions options = Options("good");
  options.scratch = folder_ + "/scratch";
  // No process has an id above the maximum.
  std::filesystem::create_directories(options.scratch + "/zygote-4194305-abcdef/capture");
  std::filesystem::create_directories(options.scratch + "/zygote-" + std::to_string(getpid()) + "-abcdef");
  MakeRunner(options);
  EXPECT_FALSE(std::filesystem::exists(options.scratch + "/zygote-4194305-abcdef"));
  EXPECT_TRUE(std::filesystem::exists(options.scratch + "/zygote-" + std::to_string(getpid()) + "-abcdef"));
}

TEST_F(RunnerTest, WorksOnAnotherThread) {
  CaptureResult result;
  std::thread([&] {
    MakeRunner("good");
    EXPECT_TRUE(runner_->Start(Job("a")).ok());
    result = WaitFinished();
    runner_.reset();
  }).join();
  EXPECT_EQ(result.status, Status::kFullGraph);
}

}  // namespace
}  // namespace breakwatch::capture
