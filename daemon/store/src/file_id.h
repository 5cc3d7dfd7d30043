// FileId: identifies the file behind a path or descriptor, to detect that it was removed or replaced.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

namespace breakwatch::store {

struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileId&) const = default;

  // nullopt if there is no such file.
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
