// LineBuffer splits bytes into lines of bounded length; TailBuffer keeps the end of a stream.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::capture {

class LineBuffer {
 public:
  explicit LineBuffer(std::size_t max_line) : max_line_(max_line) {}

  void Append(std::string_view bytes);
  // The next complete line without its "\n".
  std::optional<std::string> Next();
  // True if a line exceeded the limit. No more lines can be read.
  bool Overflowed() const { return overflowed_; }
  // The incomplete last line.
  std::string_view Partial() const { return std::string_view(bytes_).substr(start_); }

 private:
  const std::size_t max_line_;
  std::string bytes_;
  std::size_t start_ = 0;    // start of the incomplete line
  std::size_t scanned_ = 0;  // no newline before this: a long line is not searched twice
  bool overflowed_ = false;
};

class TailBuffer {
 public:
  explicit TailBuffer(std::size_t keep) : keep_(keep) {}

  void Append(std::string_view bytes);
  // The last bytes, at most `max`, as valid UTF-8. Starts at the start of a line if possible.
  std::string Text(std::size_t max) const;

 private:
  const std::size_t keep_;
  std::string bytes_;
};

}  // namespace breakwatch::capture
