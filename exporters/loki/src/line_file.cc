#include "line_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "breakwatch/core/event.h"

namespace breakwatch::exporters {
namespace {

namespace fs = std::filesystem;

// Reads up to `max_bytes` from the end of the file.
std::string ReadEnd(int fd, std::int64_t size, std::size_t max_bytes) {
  std::string text(std::min<std::size_t>(max_bytes, static_cast<std::size_t>(size)), '\0');
  const off_t from = size - static_cast<off_t>(text.size());
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t n = pread(fd, text.data() + got, text.size() - got, from + static_cast<off_t>(got));
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  text.resize(got);
  return text;
}

}  // namespace

Error LineFile::Fault(const char* what) const {
  const int code = errno;
  return {ErrorCode::kStore, path_ + ": cannot " + what + ": " + std::strerror(code), true, {}};
}

void LineFile::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

bool LineFile::IsStillAtItsPath() const {
  struct stat here {
  }, there{};
  return fstat(fd_, &here) == 0 && stat(path_.c_str(), &there) == 0 && here.st_ino == there.st_ino &&
         here.st_dev == there.st_dev;
}

// A new or renamed name is durable only after its folder is synced.
void LineFile::SyncFolder() const {
  const fs::path folder = fs::path(path_).parent_path();
  const int fd = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

Result<bool> LineFile::EnsureOpen() {
  if (fd_ >= 0 && IsStillAtItsPath()) return false;
  Close();
  std::error_code ignored;  // if this fails, opening the file fails too
  fs::create_directories(fs::path(path_).parent_path(), ignored);
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0640);
  if (fd_ < 0) return Fault("open");
  struct stat info {};
  if (fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    Close();
    return Error{ErrorCode::kStore, path_ + ": not a regular file", true, {}};
  }
  SyncFolder();
  if (auto cut = CutHalfLine(); !cut) {
    Close();
    return cut.error();
  }
  return true;
}

Result<void> LineFile::CutHalfLine() {
  const auto size = Size();
  if (!size) return size.error();
  const std::string end = ReadEnd(fd_, *size, kMaxLineBytes + 1);
  if (end.empty() || end.back() == '\n') return {};
  const auto newline = end.rfind('\n');
  const bool whole_file_seen = static_cast<std::int64_t>(end.size()) == *size;
  if (newline == end.npos && !whole_file_seen) return WriteAll("\n");  // longer than our lines: do not truncate it
  const std::int64_t keep = newline == end.npos ? 0 : *size - static_cast<std::int64_t>(end.size() - newline - 1);
  if (ftruncate(fd_, keep) != 0) return Fault("remove an incomplete line");
  return {};
}

Result<std::unordered_set<std::string>> LineFile::TailLines(std::size_t max_bytes) const {
  const auto size = Size();
  if (!size) return size.error();
  const std::string text = ReadEnd(fd_, *size, max_bytes);
  std::string_view rest = text;
  if (static_cast<std::int64_t>(text.size()) < *size)
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  std::unordered_set<std::string> lines;
  for (auto end = rest.find('\n'); end != rest.npos; end = rest.find('\n')) {
    lines.emplace(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return lines;
}

Result<std::int64_t> LineFile::Size() const {
  struct stat info {};
  if (fstat(fd_, &info) != 0) return Fault("get the size");
  return static_cast<std::int64_t>(info.st_size);
}

Result<void> LineFile::WriteAll(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Fault("write");
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (fdatasync(fd_) != 0) return Fault("sync");
  return {};
}

Result<void> LineFile::Append(std::string_view text) {
  const auto before = Size();
  if (!before) return before.error();
  auto written = WriteAll(text);
  if (written.ok()) return {};
  // Always closes the file, because its state is unknown after a failed sync. If truncation fails now, a partial line
  // is removed when the file is opened again.
  if (ftruncate(fd_, *before) == 0) fdatasync(fd_);
  Close();
  return written.error();
}

Result<void> LineFile::Rotate(int keep) {
  const auto numbered = [this](int n) { return path_ + "." + std::to_string(n); };
  for (int n = std::max(keep, 0) + 1; unlink(numbered(n).c_str()) == 0; ++n) continue;  // `keep` may have been larger
  for (int n = keep; n > 1; --n) {
    if (std::rename(numbered(n - 1).c_str(), numbered(n).c_str()) != 0 && errno != ENOENT) return Fault("rotate");
  }
  const int moved = keep > 0 ? std::rename(path_.c_str(), numbered(1).c_str()) : unlink(path_.c_str());
  if (moved != 0) return Fault("rotate");
  Close();
  return {};
}

}  // namespace breakwatch::exporters
