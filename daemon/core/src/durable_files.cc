#include "breakwatch/core/durable_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace breakwatch {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

// Of a name alone: the current directory.
std::string FolderOf(const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

Result<void> SyncFolder(const std::string& path) {
  const Descriptor folder(path, O_RDONLY | O_DIRECTORY);
  if (folder.get() < 0 || fsync(folder.get()) != 0) return DiskError(path, errno);
  return {};
}

}  // namespace

Error DiskError(const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  return {ErrorCode::kStore,
          "cannot write " + path + ": " + std::strerror(error) +
              (full ? "; free some space (`breakwatch artifact gc`), or set another state_dir" : "")};
}

Result<void> MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return DiskError(path, error.value());
  return {};
}

Result<void> WriteWhole(const std::string& path, std::string_view text) {
  const std::string fresh = path + "." + std::to_string(getpid());
  {
    const Descriptor file(fresh, O_WRONLY | O_CREAT | O_TRUNC);
    if (file.get() < 0) return DiskError(path, errno);
    if (!WriteAll(file.get(), text) || fsync(file.get()) != 0) {
      const Error failed = DiskError(path, errno);
      unlink(fresh.c_str());
      return failed;
    }
  }
  if (rename(fresh.c_str(), path.c_str()) != 0) {
    const Error failed = DiskError(path, errno);
    unlink(fresh.c_str());
    return failed;
  }
  return {};
}

Result<void> MoveIntoPlace(const std::string& from, const std::string& to) {
  {
    const Descriptor folder(from, O_RDONLY | O_DIRECTORY);
    if (folder.get() < 0 || syncfs(folder.get()) != 0) return DiskError(from, errno);
  }
  std::error_code ignored;
  const bool replaces = fs::exists(to, ignored);
  // An exchange: at no time is there no package. The old one is removed with the work folder.
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE) != 0)
    return DiskError(to, errno);
  return SyncFolder(FolderOf(to));
}

Result<void> MoveFileIntoPlace(const std::string& from, const std::string& to) {
  {
    const Descriptor file(from, O_RDONLY);
    if (file.get() < 0 || fsync(file.get()) != 0) return DiskError(from, errno);
  }
  if (rename(from.c_str(), to.c_str()) != 0) return DiskError(to, errno);
  return SyncFolder(FolderOf(to));
}

void RemoveAll(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

std::int64_t BytesBelow(const std::string& path) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) bytes += static_cast<std::int64_t>(at->file_size(ignored));
  }
  return bytes;
}

bool IsAboutSpace(std::string_view text) {
  return text.find(std::strerror(ENOSPC)) != text.npos || text.find(std::strerror(EDQUOT)) != text.npos;
}

}  // namespace breakwatch
