#include "write_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace breakwatch::report {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

Error StoreError(const std::string& path, int cause) { return {ErrorCode::kStore, path + ": " + std::strerror(cause)}; }

// Makes the names in a directory survive a power failure. Not every file system supports it, so failures are ignored.
void SyncDirectory(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  (void)fsync(fd);
  close(fd);
}

std::string ParentOf(const std::string& path) { return std::filesystem::path(path).parent_path().string(); }

}  // namespace

FileWriter::FileWriter(const std::string& path)
    : path_(path), fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (fd_ < 0) error_ = errno;
}

FileWriter::~FileWriter() {
  if (fd_ >= 0) close(fd_);
}

void FileWriter::Write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) Flush();
}

void FileWriter::Flush() {
  std::size_t written = 0;
  while (error_ == 0 && written < buffer_.size()) {
    const ssize_t count = write(fd_, buffer_.data() + written, buffer_.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  buffer_.clear();
}

Result<void> FileWriter::Close() {
  Flush();
  if (error_ == 0 && fsync(fd_) != 0) error_ = errno;
  if (fd_ >= 0 && close(fd_) != 0 && error_ == 0) error_ = errno;
  fd_ = -1;
  if (error_ != 0) return StoreError(path_, error_);
  return {};
}

Result<void> ReplaceDirectory(const std::string& from, const std::string& to) {
  SyncDirectory(from);
  if (rename(from.c_str(), to.c_str()) != 0) {
    if (errno != EEXIST && errno != ENOTEMPTY) return StoreError(to, errno);
    // Exchanges the two, so that a complete directory exists at every moment.
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0) return StoreError(to, errno);
    std::error_code ignored;
    std::filesystem::remove_all(from, ignored);
  }
  SyncDirectory(ParentOf(to));
  return {};
}

Result<void> ReplaceLink(const std::string& target, const std::string& link) {
  const std::string fresh = link + ".new";
  if (unlink(fresh.c_str()) != 0 && errno != ENOENT) return StoreError(fresh, errno);
  if (symlink(target.c_str(), fresh.c_str()) != 0) return StoreError(fresh, errno);
  if (rename(fresh.c_str(), link.c_str()) != 0) {
    const int cause = errno;
    unlink(fresh.c_str());
    return StoreError(link, cause);
  }
  SyncDirectory(ParentOf(link));
  return {};
}

}  // namespace breakwatch::report
