#include "breakwatch/store/writer_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace breakwatch::store {
namespace {

Error Failed(const std::string& path, const std::string& cause) {
  return {ErrorCode::kStore, path + ": " + cause + "; check --state-dir and its permissions", false, {}};
}

std::string Cause(int error) { return std::generic_category().message(error); }

// The number in the file; empty while the holder has not written it yet.
std::string Holder(int fd) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(fd, text.data(), text.size(), 0);
  std::string holder(text.data(), static_cast<std::size_t>(size > 0 ? size : 0));
  return holder.substr(0, holder.find_first_not_of("0123456789"));
}

}  // namespace

Result<WriterLock> WriterLock::Take(const std::string& state_dir) {
  std::error_code error;
  std::filesystem::create_directories(state_dir, error);
  if (error && !std::filesystem::is_directory(state_dir)) return Failed(state_dir, error.message());
  const std::string path = (std::filesystem::path(state_dir) / "writer.lock").string();
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return Failed(path, Cause(errno));
  WriterLock lock(fd);
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return Failed(path, Cause(errno));
    const std::string holder = Holder(fd);
    return Error{ErrorCode::kStore,
                 state_dir + " is in use by process " + (holder.empty() ? "(unknown)" : holder) +
                     ": wait for its sweep, stop it, or name another --state-dir",
                 true,
                 {}};
  }
  // What is written is for people: the lock holds without it, even on a full disk.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd, 0) == 0) (void)!::pwrite(fd, pid.data(), pid.size(), 0);
  return lock;
}

WriterLock::~WriterLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace breakwatch::store
