// Listing: runs one call of the lister on its own thread, with a descriptor to poll.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "breakwatch/core/model_lister.h"

namespace breakwatch::engine {

// Owner: the loop. Thread: the loop's. The lister runs on a thread owned by this object, which the destructor stops and
// joins.
class Listing {
 public:
  Listing(ModelLister& lister, ListRequest request);
  ~Listing();
  Listing(const Listing&) = delete;
  Listing& operator=(const Listing&) = delete;

  // Readable when Take has an answer or progress.
  int Fd() const { return event_fd_; }
  struct News {
    std::optional<Result<RankedList>> answer;
    int resolved = 0, total = 0;  // total 0: unknown so far
  };
  News Take();

 private:
  void Signal() const;

  int event_fd_;
  std::atomic<int> resolved_{0}, total_{0};
  std::mutex mutex_;
  std::optional<Result<RankedList>> answer_;
  std::jthread thread_;  // last: ends before the objects that it uses
};

}  // namespace breakwatch::engine
