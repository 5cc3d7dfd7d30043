// A file of lines without partial lines: manages the descriptor, the tail and rotation of the event file.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>

#include "breakwatch/core/result.h"

namespace breakwatch::exporters {

// Owner and thread: its exporter. Errors are kStore and retryable; they name the file.
class LineFile {
 public:
  explicit LineFile(std::string path) : path_(std::move(path)) {}
  ~LineFile() { Close(); }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  // Opens the file if it is not open, or if the path now has another file. Returns true if it opened the file. Removes
  // an incomplete last line.
  Result<bool> EnsureOpen();
  // The last complete lines within `max_bytes`.
  Result<std::unordered_set<std::string>> TailLines(std::size_t max_bytes) const;
  Result<std::int64_t> Size() const;
  // Appends and syncs all of `text`, or nothing.
  Result<void> Append(std::string_view text);
  // Renames PATH.1 to PATH.2 and so on up to `keep`, and PATH to PATH.1. Closes the file.
  Result<void> Rotate(int keep);

 private:
  void Close();
  bool IsStillAtItsPath() const;
  Result<void> CutHalfLine();
  Result<void> WriteAll(std::string_view text);
  void SyncFolder() const;
  Error Fault(const char* what) const;

  const std::string path_;
  int fd_ = -1;
};

}  // namespace breakwatch::exporters
