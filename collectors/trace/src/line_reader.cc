#include "line_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace breakwatch::trace {
namespace {

constexpr std::size_t kChunk = 1u << 20;

}  // namespace

Result<LineReader> LineReader::Open(const std::string& path, std::size_t max_line_bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{ErrorCode::kUsage, "cannot read " + path + ": " + std::strerror(errno)};
  posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
  return LineReader(fd, max_line_bytes);
}

LineReader::LineReader(int fd, std::size_t max_line_bytes)
    : fd_(fd), capacity_(std::min(kChunk, max_line_bytes)), max_line_bytes_(max_line_bytes) {
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
}

LineReader::LineReader(LineReader&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      capacity_(other.capacity_),
      max_line_bytes_(other.max_line_bytes_),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_),
      bytes_(other.bytes_),
      failed_(other.failed_) {}

LineReader::~LineReader() {
  if (fd_ >= 0) close(fd_);
}

// Appends more bytes to the buffer and moves or grows it as needed. False at the end, and if the longest line fills it.
bool LineReader::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == capacity_) {
    if (capacity_ >= max_line_bytes_) return false;
    const std::size_t more = std::min(capacity_ * 2, max_line_bytes_);
    auto bigger = std::make_unique_for_overwrite<char[]>(more);
    std::memcpy(bigger.get(), buffer_.get(), end_);
    buffer_ = std::move(bigger);
    capacity_ = more;
  }
  ssize_t got = 0;
  do {
    got = read(fd_, buffer_.get() + end_, capacity_ - end_);
  } while (got < 0 && errno == EINTR);
  if (got < 0) failed_ = true;
  if (got <= 0) return false;
  end_ += static_cast<std::size_t>(got);
  bytes_ += static_cast<std::uint64_t>(got);
  return true;
}

void LineReader::DropRestOfLine() {
  while (true) {
    const void* newline = std::memchr(buffer_.get() + begin_, '\n', end_ - begin_);
    if (newline != nullptr) {
      begin_ = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.get()) + 1;
      return;
    }
    begin_ = end_;
    if (!Fill()) return;
  }
}

bool LineReader::Next(Line& line) {
  // The start of a line that was too long was returned; the rest is still to be read.
  if (line.too_long) DropRestOfLine();
  line = {};
  std::size_t searched = 0;
  while (true) {
    const char* start = buffer_.get() + begin_;
    const void* newline = std::memchr(start + searched, '\n', end_ - begin_ - searched);
    if (newline != nullptr) {
      const auto size = static_cast<std::size_t>(static_cast<const char*>(newline) - start);
      line.text = {start, size};
      begin_ += size + 1;
      return true;
    }
    searched = end_ - begin_;
    if (Fill()) continue;
    if (searched == 0) return false;
    line.text = {buffer_.get() + begin_, searched};
    line.too_long = searched >= max_line_bytes_ && !failed_;
    line.ended = line.too_long;
    if (!line.too_long) begin_ = end_;
    return true;
  }
}

}  // namespace breakwatch::trace
