#include "import_runner.h"

#include <utility>

namespace breakwatch::engine {

ImportRunner::ImportRunner(CaptureResult imported) : imported_(std::move(imported)) {}

Result<void> ImportRunner::Start(const CaptureJob& job) {
  started_ = true;
  imported_.job_id = job.id;
  ready_ = std::move(imported_);
  return {};
}

CaptureRunner::Waited ImportRunner::Wait(SteadyTime, int) {
  Waited waited{.finished = std::exchange(ready_, std::nullopt)};
  waited.woken = !waited.finished;
  return waited;
}

}  // namespace breakwatch::engine
