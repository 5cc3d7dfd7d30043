// A runner with the script worker, in its own folder, with a clock that the test moves.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "breakwatch/capture/zygote_runner.h"
#include "fakes/fake_clock.h"

namespace breakwatch::capture {

// How long a test waits for an event; shorter than any limit that is not under test.
inline constexpr std::chrono::seconds kPatience{15};

inline CaptureJob Job(const std::string& id) {
  CaptureJob job;
  job.id = id;
  job.model = "sample/" + id;
  job.revision = "0000000000000000000000000000000000000000";
  job.config_json = R"({"model_type": "bert"})";
  job.architecture = "BertModel";
  return job;
}

class WorkerFixture : public testing::Test {
 protected:
  WorkerFixture() {
    std::string name = std::filesystem::temp_directory_path() / "breakwatch-capture-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~WorkerFixture() override { std::filesystem::remove_all(folder_); }

  ZygoteOptions Options(const std::string& mode) {
    ZygoteOptions options;
    options.worker = {BREAKWATCH_TEST_DATA "/capture/fake_worker.sh", mode, folder_};
    options.kill_grace = milliseconds{50};
    options.backoff_first = milliseconds{1};
    options.log = [this](std::string_view line) { log_.emplace_back(line); };
    return options;
  }
  void MakeRunner(const std::string& mode) { MakeRunner(Options(mode)); }
  void MakeRunner(ZygoteOptions options) { runner_ = MakeZygoteRunner(std::move(options), clock_); }

  // A FIFO through which the worker reports. It is open in both directions, so it never reports its end.
  int Fifo(const std::string& name, int flags = O_RDWR) {
    const std::string path = folder_ + "/" + name;
    mkfifo(path.c_str(), 0600);
    return open(path.c_str(), flags | O_NONBLOCK | O_CLOEXEC);
  }
  // Waits until the worker reports that it has a capture.
  bool WorkerHolds(int said) {
    const bool woken = runner_->Wait(clock_.Steady() + kPatience, said).woken;
    char buffer[256];
    return read(said, buffer, sizeof buffer) > 0 && woken;
  }
  CaptureRunner::Waited WaitLong() { return runner_->Wait(clock_.Steady() + kPatience, -1); }
  CaptureResult WaitFinished() {
    auto waited = WaitLong();
    EXPECT_TRUE(waited.finished) << "nothing finished";
    return waited.finished.value_or(CaptureResult{});
  }
  WorkerCounts Counts() const { return runner_->Workers().value(); }
  std::string Contents(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::string folder_;
  fakes::FakeClock clock_;
  std::vector<std::string> log_;
  std::unique_ptr<CaptureRunner> runner_;
};

}  // namespace breakwatch::capture
