// Replaces whole files and directories atomically.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch::report {

// A new file: call Write, then Close, which syncs. Error: kStore, with the file and the cause.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void Write(std::string_view bytes);  // errors are reported by Close
  Result<void> Close();

 private:
  void Flush();

  std::string path_, buffer_;
  int fd_;
  int error_ = 0;
};

// Moves a directory over an existing one, atomically if the file system supports it. Removes the old one.
Result<void> ReplaceDirectory(const std::string& from, const std::string& to);
// Makes `link` a symbolic link to `target`. Replaces an existing link atomically.
Result<void> ReplaceLink(const std::string& target, const std::string& link);

}  // namespace breakwatch::report
