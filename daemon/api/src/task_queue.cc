#include "task_queue.h"

#include <system_error>
#include <utility>

namespace breakwatch::api {

void TaskQueue::enqueue(std::function<void()> task) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return stopping_ || tasks_.size() < idle_ || threads_.size() < max_threads_; });
  tasks_.push_back(std::move(task));
  if (tasks_.size() > idle_ && threads_.size() < max_threads_ && !stopping_) {
    try {
      threads_.emplace_back([this] { Work(); });
    } catch (const std::system_error&) {
      // An existing thread takes it. Without any, the accepting thread handles this connection.
      if (threads_.empty()) return RunHere(lock);
    }
  }
  work_.notify_one();
}

void TaskQueue::RunHere(std::unique_lock<std::mutex>& lock) {
  const auto task = std::move(tasks_.back());
  tasks_.pop_back();
  lock.unlock();
  task();
}

void TaskQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    room_.notify_one();
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

void TaskQueue::shutdown() {
  std::vector<std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    threads.swap(threads_);
  }
  work_.notify_all();
  room_.notify_all();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace breakwatch::api
