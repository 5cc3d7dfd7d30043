#include "breakwatch/store/writer_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "file_id.h"

namespace breakwatch::store {
namespace {

Error Failed(const std::string& path, const std::string& cause) {
  return {ErrorCode::kStore, path + ": " + cause + "; check --state-dir and its permissions", false, {}};
}

std::string Cause(int error) { return std::generic_category().message(error); }

// The process ID in the file; empty if the holder has not written it yet.
std::string Holder(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  std::string holder(text.data(), static_cast<std::size_t>(size > 0 ? size : 0));
  return holder.substr(0, holder.find_first_not_of("0123456789"));
}

constexpr char kLockFile[] = "writer.lock";

// Some file systems (NFS) can lock files that are open for writing, but not directories. Then only the file is locked.
bool CannotLock(int error) {
  return error == EBADF || error == EINVAL || error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS;
}

}  // namespace

Result<WriterLock> WriterLock::Take(const std::string& state_dir) {
  std::error_code error;
  std::filesystem::create_directories(state_dir, error);
  if (error && !std::filesystem::is_directory(state_dir)) return Failed(state_dir, error.message());
  // A relative path would change its meaning with the working directory.
  WriterLock lock(std::filesystem::absolute(state_dir, error).lexically_normal().string());
  if (lock.path_.size() > 1 && lock.path_.ends_with('/')) lock.path_.pop_back();
  if (auto locked = lock.Lock(); !locked) return locked.error();
  lock.Watch();
  // The directory may have been replaced between opening and locking.
  if (auto held = lock.Held(); !held) return held.error();
  return lock;
}

Result<void> WriterLock::Lock() {
  folder_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) return Failed(path_, Cause(errno));
  const std::string path = path_ + "/" + kLockFile;
  file_ = ::openat(folder_, kLockFile, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file_ < 0) return Failed(path, Cause(errno));
  if (auto locked = LockFd(folder_, path_, /*optional=*/true); !locked) return locked;
  if (auto locked = LockFd(file_, path, /*optional=*/false); !locked) return locked;
  // The process ID is only informational: the lock holds without it, even on a full disk.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(file_, 0) == 0) (void)!::pwrite(file_, pid.data(), pid.size(), 0);
  return {};
}

Result<void> WriterLock::LockFd(int fd, const std::string& path, bool optional) const {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (optional && CannotLock(errno)) return {};
    if (errno != EWOULDBLOCK) return Failed(path, Cause(errno));
    const std::string holder = Holder(file_);
    return Error{ErrorCode::kStore,
                 path_ + " is in use by process " + (holder.empty() ? "(unknown)" : holder) +
                     ": wait for its sweep, stop it, or use another --state-dir",
                 true,
                 {}};
  }
  return {};
}

Result<void> WriterLock::Held() const {
  const auto here = FileId::Of(path_);
  if (here && here == FileId::Of(folder_)) return {};
  return Error{ErrorCode::kStore, "the state directory " + path_ +
                                      (here ? " was replaced by another one" : " was removed or moved") +
                                      " while it was in use: start breakwatch again"};
}

// The removal of a directory is reported by its parent directory.
void WriterLock::Watch() {
  watch_ = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (watch_ < 0) return;
  const std::string parent = std::filesystem::path(path_).parent_path().string();
  ::inotify_add_watch(watch_, path_.c_str(), IN_DELETE | IN_MOVED_FROM | IN_MOVE_SELF | IN_DELETE_SELF | IN_ONLYDIR);
  ::inotify_add_watch(watch_, parent.c_str(), IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR);
}

void WriterLock::TakeChanges() const {
  std::array<char, 4096> events{};
  while (watch_ >= 0 && ::read(watch_, events.data(), events.size()) > 0) continue;
}

WriterLock::~WriterLock() {
  for (const int fd : {folder_, file_, watch_}) {
    if (fd >= 0) ::close(fd);
  }
}

}  // namespace breakwatch::store
