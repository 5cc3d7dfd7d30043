// The runner of an import: it captures nothing, because the result already exists.
#pragma once

#include <optional>

#include "breakwatch/core/capture_runner.h"

namespace breakwatch::engine {

class ImportRunner final : public CaptureRunner {
 public:
  explicit ImportRunner(CaptureResult imported);

  std::size_t Capacity() const override { return started_ ? 0 : 1; }
  Result<void> Start(const CaptureJob& job) override;
  // Returns at once: a started job is already complete.
  Waited Wait(SteadyTime until, int wake_fd) override;
  std::vector<std::string> StopAll() override { return {}; }

 private:
  CaptureResult imported_;
  std::optional<CaptureResult> ready_;
  bool started_ = false;
};

}  // namespace breakwatch::engine
