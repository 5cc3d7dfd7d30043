#include "breakwatch/core/command.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

// A folder's and a model's name on disk, each byte of which may have become three of UTF-8.
constexpr std::size_t kMaxNameBytes = 2048, kShownBytes = 80;

Result<void> CheckName(const std::string& name, const char* what, std::size_t min_bytes) {
  if (name.size() >= min_bytes && name.size() <= kMaxNameBytes) return {};
  const bool is_long = name.size() > kMaxNameBytes;
  return Error{ErrorCode::kUsage, "\"" + Truncate(name, kShownBytes) + (is_long ? "…" : "") + "\" is no " + what};
}

}  // namespace

Result<void> CheckNames(const SweepRequest& request) {
  for (const std::string& id : request.list.ids) {
    if (auto checked = CheckName(id, "model's name", 1); !checked) return checked;
  }
  if (!request.saved_plan) return {};
  for (const PlannedModel& planned : request.saved_plan->models) {
    if (auto checked = CheckName(planned.info.id, "model's name", 1); !checked) return checked;
    if (auto checked = CheckName(planned.info.sha, "commit", 0); !checked) return checked;
  }
  return {};
}

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
