// TaskQueue: starts threads on demand up to a limit. Further connections wait in the kernel's backlog.
//
// The library's own pool is small and fixed, so a few slow clients would delay every scrape.
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace breakwatch::api {

class TaskQueue final : public httplib::TaskQueue {
 public:
  explicit TaskQueue(std::size_t max_threads) : max_threads_(max_threads) {}
  void enqueue(std::function<void()> task) override;  // blocks while every thread is busy
  void shutdown() override;

 private:
  void Work();
  void RunHere(std::unique_lock<std::mutex>& lock);

  const std::size_t max_threads_;
  std::mutex mutex_;
  std::condition_variable work_, room_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace breakwatch::api
