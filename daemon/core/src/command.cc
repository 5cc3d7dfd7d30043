#include "breakwatch/core/command.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <set>
#include <utility>

#include "breakwatch/core/choices.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/model_filter.h"
#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

// The length of a folder's and a model's name. Invalid bytes can each become three bytes of UTF-8.
constexpr std::size_t kMaxNameBytes = 2048, kShownBytes = 80;

std::string Shown(const std::string& name) {
  const std::string shown = Truncate(ToUtf8(name), kShownBytes);
  return "\"" + shown + (shown.size() < name.size() ? "…" : "") + "\"";
}

Result<void> CheckName(const std::string& name, const char* what, std::size_t min_bytes) {
  if (name.size() >= min_bytes && name.size() <= kMaxNameBytes) return {};
  return Error{ErrorCode::kUsage, Shown(name) + " is not a valid " + what};
}

Result<void> CheckPlanned(const PlannedModel& planned, bool imported) {
  if (auto checked = CheckName(planned.info.id, "model name", 1); !checked) return checked;
  if (auto checked = CheckName(planned.info.sha, "commit", 0); !checked) return checked;
  if (IsMode(planned.mode) || (imported && planned.mode == kImport)) return {};
  return Error{ErrorCode::kUsage, "field \"mode\": expected " + OneOf(AllModes()) + ", not " + Shown(planned.mode)};
}

}  // namespace

Result<void> CheckNames(const SweepRequest& request) {
  for (const std::string& id : request.list.ids) {
    if (auto checked = CheckName(id, "model name", 1); !checked) return checked;
  }
  if (!request.list.select.empty()) {
    if (auto filter = ModelFilter::Parse(request.list.select); !filter) return filter.error();
  }
  if (request.measure) {
    if (auto checked = CheckMeasure(*request.measure); !checked) return checked.error().Within("measure");
  }
  if (!request.saved_plan) return {};
  std::set<std::pair<std::string, std::string>> seen;
  const std::vector<PlannedModel>& models = request.saved_plan->models;
  for (std::size_t i = 0; i < models.size(); ++i) {
    auto checked = CheckPlanned(models[i], request.imported.has_value());
    if (checked && !seen.emplace(models[i].info.id, models[i].mode).second) {
      checked = Error{ErrorCode::kUsage, Shown(models[i].info.id) + " is planned twice in mode " + models[i].mode};
    }
    if (!checked) return checked.error().Within("models[" + std::to_string(i) + "]");
  }
  return {};
}

CommandQueue::CommandQueue(std::size_t capacity)
    : capacity_(capacity), event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)) {}

CommandQueue::~CommandQueue() { close(event_fd_); }

bool CommandQueue::Push(Command command) {
  const std::lock_guard lock(mutex_);
  // A stop is always accepted: a full queue must not keep the daemon running.
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
