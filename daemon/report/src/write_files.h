// Whole files and directories put in place at once.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch::report {

// A file under construction: write, then Close, which syncs. Error: kStore, naming the file and the cause.
class FileWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void Write(std::string_view bytes);  // a failure shows in Close
  Result<void> Close();

 private:
  void Flush();

  std::string path_, buffer_;
  int fd_;
  int error_ = 0;
};

// Moves a directory to where one may be already, in one step where the file system can; the old one is removed.
Result<void> ReplaceDirectory(const std::string& from, const std::string& to);
// Makes `link` a symbolic link to `target`, replacing a link there in one step.
Result<void> ReplaceLink(const std::string& target, const std::string& link);

}  // namespace breakwatch::report
