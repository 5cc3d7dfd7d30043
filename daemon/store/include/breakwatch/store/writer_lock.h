// WriterLock: the right to sweep into a state directory. Kernel locks on the directory itself, which removing a file
// does not release, and on <state_dir>/writer.lock, which names the holder. They end with their process.
//
// Owner: the command that sweeps or serves, for its whole run. Thread: any, except TakeChanges.
#pragma once

#include <string>
#include <utility>

#include "breakwatch/core/result.h"

namespace breakwatch::store {

class WriterLock {
 public:
  // Creates the directory if absent; never waits. Error: kStore; retryable if another process holds the
  // lock, with its process number.
  static Result<WriterLock> Take(const std::string& state_dir);

  // Error: kStore if the directory is no longer the locked one: it was removed, moved or replaced, and another
  // writer may own the new one.
  Result<void> Held() const;
  // Readable when something in or around the directory was removed or moved: call Held. -1: cannot be watched.
  int WatchFd() const { return watch_; }
  // Takes what makes WatchFd readable. Thread: the one that waits for it.
  void TakeChanges() const;

  WriterLock(WriterLock&& other) noexcept { *this = std::move(other); }
  WriterLock& operator=(WriterLock&& other) noexcept {
    std::swap(path_, other.path_), std::swap(folder_, other.folder_);
    std::swap(file_, other.file_), std::swap(watch_, other.watch_);
    return *this;
  }
  ~WriterLock();

 private:
  explicit WriterLock(std::string path) : path_(std::move(path)) {}
  Result<void> Lock();
  Result<void> LockFd(int fd, const std::string& path, bool optional) const;
  void Watch();

  std::string path_;  // of the directory, absolute
  int folder_ = -1, file_ = -1, watch_ = -1;
};

}  // namespace breakwatch::store
