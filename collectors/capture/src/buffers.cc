#include "buffers.h"

#include "breakwatch/core/text.h"

namespace breakwatch::capture {

void LineBuffer::Append(std::string_view bytes) {
  if (overflowed_) return;
  if (start_ > 0) {
    bytes_.erase(0, start_);
    scanned_ -= start_;
    start_ = 0;
  }
  bytes_.append(bytes);
}

std::optional<std::string> LineBuffer::Next() {
  if (overflowed_) return std::nullopt;
  const std::size_t end = bytes_.find('\n', scanned_);
  const std::size_t length = (end == std::string::npos ? bytes_.size() : end) - start_;
  if (length > max_line_) {
    overflowed_ = true;
    bytes_.resize(start_ + max_line_);
    return std::nullopt;
  }
  if (end == std::string::npos) {
    scanned_ = bytes_.size();
    return std::nullopt;
  }
  std::string line = bytes_.substr(start_, length);
  start_ = scanned_ = end + 1;
  return line;
}

void TailBuffer::Append(std::string_view bytes) {
  if (bytes.size() > keep_) bytes.remove_prefix(bytes.size() - keep_);
  bytes_.append(bytes);
  // Trims only at twice the limit, so that a slow stream does not move all bytes at each append.
  if (bytes_.size() > 2 * keep_) bytes_.erase(0, bytes_.size() - keep_);
}

std::string TailBuffer::Text(std::size_t max) const {
  std::string_view tail = bytes_;
  const std::size_t bound = std::min(max, keep_);
  if (tail.size() > bound) {
    tail.remove_prefix(tail.size() - bound);
    const std::size_t newline = tail.find('\n');
    if (newline != std::string_view::npos && newline + 1 < tail.size()) tail.remove_prefix(newline + 1);
  }
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r')) tail.remove_suffix(1);
  return ToUtf8(tail);
}

}  // namespace breakwatch::capture
