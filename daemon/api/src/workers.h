// Workers: threads that are started on demand, up to a limit, and a bounded queue for what waits for one.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace breakwatch::api {

// Owns its threads; finishes what waits and joins them in its destructor.
class Workers {
 public:
  Workers(std::size_t max_threads, std::size_t max_waiting) : max_threads_(max_threads), max_waiting_(max_waiting) {}
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // False: too much waits. Never blocks. Thread: any.
  [[nodiscard]] bool Submit(std::function<void()> task);

 private:
  void Work();

  const std::size_t max_threads_, max_waiting_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool stopping_ = false;
};

}  // namespace breakwatch::api
