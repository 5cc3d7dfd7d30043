// MachineLock: keeps measurements apart from everything else that captures on this machine.
//
// A file that all processes lock with flock(2): shared while they capture, exclusive while they measure. The kernel
// releases it when a process ends. Never blocks.
#pragma once

#include <string>

#include "breakwatch/core/result.h"
#include "unique_fd.h"

namespace breakwatch::capture {

class MachineLock {
 public:
  explicit MachineLock(std::string path) : path_(std::move(path)) {}

  // True: this process holds the lock now, at least shared, or exclusive. False: another process holds it.
  // Error: kUnavailable, the file cannot be opened or locked. Without a path every lock succeeds.
  Result<bool> Take(bool exclusive);
  void Release();
  const std::string& path() const { return path_; }

 private:
  Result<void> Open();

  const std::string path_;
  UniqueFd file_;  // open while a lock is held
  bool exclusive_ = false;
};

}  // namespace breakwatch::capture
