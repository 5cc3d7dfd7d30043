#include "push_time.h"

#include "breakwatch/core/text.h"

namespace breakwatch::exporters {
namespace {

constexpr std::size_t kMaxLineBytes = 64u << 10;

std::string Quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    c == '\n' ? text += "\\n" : text += c;
  }
  return text + '"';
}

}  // namespace

// The gateway sorts labels by name, and adds an empty `instance`.
PushTimeFinder::PushTimeFinder(const PushgatewayOptions& options, int shard) {
  series_ = "push_time_seconds{instance=\"\",job=" + Quoted(ToUtf8(options.job));
  if (!options.pool.empty()) series_ += ",pool=" + Quoted(ToUtf8(options.pool));
  if (options.shards > 1) series_ += ",shard=\"" + std::to_string(shard) + '"';
  series_ += "} ";
}

bool PushTimeFinder::Take(std::string_view piece) {
  while (!time_) {
    const std::size_t end = piece.find('\n');
    const std::string_view part = piece.substr(0, end);
    if (end == piece.npos) {
      skips_ = skips_ || rest_.size() + part.size() > kMaxLineBytes;
      skips_ ? rest_.clear() : void(rest_.append(part));
      return true;
    }
    if (!skips_ && rest_.empty()) {
      TakeLine(part);
    } else if (!skips_) {
      TakeLine(rest_.append(part));
    }
    rest_.clear();
    skips_ = false;
    piece.remove_prefix(end + 1);
  }
  return false;
}

void PushTimeFinder::TakeLine(std::string_view line) {
  if (line.starts_with(series_)) time_ = std::string(line.substr(series_.size()));
}

}  // namespace breakwatch::exporters
