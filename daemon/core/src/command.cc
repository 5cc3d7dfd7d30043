#include "breakwatch/core/command.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace breakwatch {

CommandQueue::CommandQueue(std::size_t capacity)
    : capacity_(capacity), event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) {}

CommandQueue::~CommandQueue() { close(event_fd_); }

bool CommandQueue::Push(Command command) {
  const std::lock_guard lock(mutex_);
  // A stop always fits: a full queue must not keep the daemon alive.
  if (commands_.size() >= capacity_ && command.kind != Command::Kind::kStop) return false;
  commands_.push_back(std::move(command));
  const std::uint64_t one = 1;
  return write(event_fd_, &one, sizeof one) == sizeof one;
}

std::optional<Command> CommandQueue::Pop() {
  const std::lock_guard lock(mutex_);
  if (commands_.empty()) return std::nullopt;
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read_bytes = read(event_fd_, &count, sizeof count);
  Command command = std::move(commands_.front());
  commands_.pop_front();
  return command;
}

}  // namespace breakwatch
