// LineReader: returns the lines of a file one by one, in memory bounded by the longest allowed line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch::trace {

struct Line {
  std::string_view text;  // without its line end; valid until the next call
  bool ended = true;      // false: the file ended before the line did
  bool too_long = false;  // `text` is its beginning
};

class LineReader {
 public:
  // Error: kUsage if the file cannot be opened.
  static Result<LineReader> Open(const std::string& path, std::size_t max_line_bytes);
  LineReader(LineReader&& other) noexcept;
  LineReader& operator=(LineReader&&) = delete;
  ~LineReader();

  // False at the end of the file, and after a read error.
  bool Next(Line& line);
  std::uint64_t BytesRead() const { return bytes_; }
  bool Failed() const { return failed_; }

 private:
  LineReader(int fd, std::size_t max_line_bytes);
  bool Fill();
  void DropRestOfLine();

  int fd_;
  std::size_t capacity_, max_line_bytes_;
  std::unique_ptr<char[]> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // the part of the buffer that was not returned yet
  std::uint64_t bytes_ = 0;
  bool failed_ = false;
};

}  // namespace breakwatch::trace
