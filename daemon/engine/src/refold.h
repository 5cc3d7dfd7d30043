// Refold: folds the history of a store on a thread of its own, which takes minutes for a large one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <thread>

#include "breakwatch/engine/aggregate.h"
#include "breakwatch/store/current_state.h"

namespace breakwatch::engine {

// Owner and thread: the loop's. The destructor ends the thread.
class Refold {
 public:
  using OpenCurrent = std::function<Result<std::unique_ptr<store::CurrentState>>()>;

  // `open` is called on the thread: the session is the thread's.
  Refold(OpenCurrent open, AggregateOptions options);
  ~Refold();
  Refold(const Refold&) = delete;
  Refold& operator=(const Refold&) = delete;

  int Fd() const { return event_fd_; }  // readable when it has ended
  // Once: the result, if it has ended.
  std::optional<Result<FoldedHistory>> Take();

 private:
  int event_fd_;
  std::optional<Result<FoldedHistory>> folded_;  // written before the descriptor is readable, read after that
  std::jthread thread_;                          // last: ends before the objects that it uses
};

}  // namespace breakwatch::engine
