#include "machine_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace breakwatch::capture {
namespace {

Error CannotUse(const std::string& path, int error) {
  return {ErrorCode::kUnavailable, "cannot lock " + path + " (measure.lock_file): " + std::strerror(error), true};
}

}  // namespace

Result<void> MachineLock::Open() {
  // A lock needs no right to write. Opening an existing file without O_CREAT also works for the file of another user in
  // a sticky directory. O_NONBLOCK: a FIFO in its place must not block.
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  constexpr mode_t kEveryone = 0666;
  for (int attempt = 0; attempt < 2; ++attempt) {
    file_ = UniqueFd(open(path_.c_str(), kFlags));
    if (file_ || errno != ENOENT) break;
    file_ = UniqueFd(open(path_.c_str(), kFlags | O_CREAT | O_EXCL, kEveryone));
    if (file_) (void)fchmod(file_.get(), kEveryone);  // despite the umask: other users lock the same file
    if (file_ || errno != EEXIST) break;
  }
  if (!file_) return CannotUse(path_, errno);
  return {};
}

Result<bool> MachineLock::Take(bool exclusive) {
  if (path_.empty()) return true;
  if (file_ && (exclusive_ || !exclusive)) return true;
  if (!file_) {
    if (auto opened = Open(); !opened) return opened.error();
  }
  if (flock(file_.get(), (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) {
    exclusive_ = exclusive;
    return true;
  }
  const int error = errno;
  Release();  // a failed change from shared to exclusive loses the shared lock too
  if (error == EWOULDBLOCK || error == EINTR) return false;
  return CannotUse(path_, error);
}

void MachineLock::Release() {
  file_.Close();
  exclusive_ = false;
}

}  // namespace breakwatch::capture
