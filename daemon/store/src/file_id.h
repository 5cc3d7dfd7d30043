// FileId: which file a path or a descriptor means, so that one that was removed or replaced is noticed.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace breakwatch::store {

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;

  // Nothing: there is no such file.
  static std::optional<FileId> Of(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return std::nullopt;
    return FileId{info.st_dev, info.st_ino};
  }
  static std::optional<FileId> Of(int fd) {
    struct stat info {};
    if (::fstat(fd, &info) != 0) return std::nullopt;
    return FileId{info.st_dev, info.st_ino};
  }
};

}  // namespace breakwatch::store
