#include "worker_text.h"

#include "breakwatch/core/text.h"
#include "message.h"

namespace breakwatch::capture {
namespace {

constexpr std::size_t kTailShown = 2048;

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return Quote(text, 400);
}

}  // namespace

std::string LastLine(std::string_view text) {
  text = Trim(text);
  const std::size_t newline = text.rfind('\n');
  return Quote(newline == std::string_view::npos ? text : text.substr(newline + 1), 300);
}

Error CannotStart(const ZygoteOptions& options, const std::string& why, const std::string& stderr_tail) {
  std::string message = "no capture worker starts: " + why;
  if (const std::string last = LastLine(stderr_tail); !last.empty()) message += ": " + last;
  message +=
      "; check capture.worker and its environment (`breakwatch setup` makes it, `breakwatch doctor` checks it): " +
      Joined(options.worker);
  if (stderr_tail.find('\n') != std::string::npos) {
    std::string_view tail = stderr_tail;
    if (tail.size() > kTailShown) tail.remove_prefix(tail.size() - kTailShown);
    message += "\n" + ToUtf8(tail);
  }
  return {ErrorCode::kUnavailable, message, /*retryable=*/true};
}

std::string WrongProtocol(std::int64_t theirs, const std::string& worker_version) {
  return "it has protocol " + std::to_string(theirs) + " (worker " +
         (worker_version.empty() ? "of unknown version" : worker_version) + "), this program has protocol " +
         std::to_string(kProtocol) + ": install the worker of this release";
}

}  // namespace breakwatch::capture
