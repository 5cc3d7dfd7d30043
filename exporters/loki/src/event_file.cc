#include "breakwatch/exporters/event_file.h"

#include <unordered_set>
#include <utility>

#include "line_file.h"

namespace breakwatch::exporters {
namespace {

// Several batches: at most one batch can be written without being recorded as sent.
constexpr std::size_t kTailBytes = 8u << 20;

Outcome TryAgain(const Error& error) { return {Delivery::kTryAgain, error.message, error.after}; }

class EventFile : public EventExporter {
 public:
  explicit EventFile(EventFileOptions options) : options_(std::move(options)), file_(options_.path) {}

  std::string Name() const override { return options_.name; }
  Outcome Export(std::span<const StoredEvent> batch) override;

 private:
  Result<void> Open();
  std::string NewLines(std::span<const StoredEvent> batch) const;
  Result<void> RotateWhenFull(std::size_t more_bytes);

  const EventFileOptions options_;
  LineFile file_;
  // The lines found when the file was opened, until the first event that is not among them. Keeps whole lines, not the
  // highest id: a new store restarts ids, and its events must not be taken for old ones.
  std::unordered_set<std::string> already_there_;
};

Result<void> EventFile::Open() {
  const auto opened = file_.EnsureOpen();
  if (!opened) return opened.error();
  if (!*opened) return {};
  auto lines = file_.TailLines(kTailBytes);
  if (!lines) return lines.error();
  already_there_ = std::move(*lines);
  return {};
}

std::string EventFile::NewLines(std::span<const StoredEvent> batch) const {
  std::string text;
  for (const StoredEvent& event : batch) {
    if (!already_there_.contains(event.line)) text += event.line + '\n';
  }
  return text;
}

Result<void> EventFile::RotateWhenFull(std::size_t more_bytes) {
  const auto size = file_.Size();
  if (!size) return size.error();
  if (*size == 0 || *size + static_cast<std::int64_t>(more_bytes) <= options_.max_bytes) return {};
  if (auto rotated = file_.Rotate(options_.keep); !rotated) return rotated.error();
  const auto opened = file_.EnsureOpen();
  return opened ? Result<void>() : Result<void>(opened.error());
}

Outcome EventFile::Export(std::span<const StoredEvent> batch) {
  if (auto opened = Open(); !opened) return TryAgain(opened.error());
  const std::string text = NewLines(batch);
  if (text.empty()) return {};
  if (auto rotated = RotateWhenFull(text.size()); !rotated) return TryAgain(rotated.error());
  if (auto appended = file_.Append(text); !appended) return TryAgain(appended.error());
  already_there_.clear();
  return {};
}

}  // namespace

std::unique_ptr<EventExporter> MakeEventFile(EventFileOptions options) {
  return std::make_unique<EventFile>(std::move(options));
}

}  // namespace breakwatch::exporters
