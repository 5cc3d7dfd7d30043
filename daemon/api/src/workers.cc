#include "workers.h"

#include <pthread.h>

#include <system_error>
#include <utility>

namespace breakwatch::api {

bool Workers::Submit(std::function<void()> task) {
  const std::lock_guard lock(mutex_);
  if (tasks_.size() >= max_waiting_ + idle_) return false;
  if (tasks_.size() >= idle_ && threads_.size() < max_threads_) {
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;  // otherwise an existing thread takes it
    }
  }
  tasks_.push_back(std::move(task));
  work_.notify_one();
  return true;
}

void Workers::Work() {
  pthread_setname_np(pthread_self(), "http");
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    work_.wait(lock, [this] { return stopping_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace breakwatch::api
