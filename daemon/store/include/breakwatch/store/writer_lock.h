// WriterLock: who may sweep into a state directory. A lock of the kernel on <state_dir>/writer.lock: it ends
// with its process however that ends, and the file, which names the holder, stays.
//
// Owner: the command that sweeps or serves, for its whole run. Thread: any.
#pragma once

#include <string>
#include <utility>

#include "breakwatch/core/result.h"

namespace breakwatch::store {

class WriterLock {
 public:
  // Makes the directory where it is absent; never waits. Error: kStore; retryable when another process
  // holds the lock, whose number the message names.
  static Result<WriterLock> Take(const std::string& state_dir);

  WriterLock(WriterLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  WriterLock& operator=(WriterLock&& other) noexcept { return std::swap(fd_, other.fd_), *this; }
  ~WriterLock();

 private:
  explicit WriterLock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace breakwatch::store
