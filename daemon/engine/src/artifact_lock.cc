#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/artifact_stages.h"

namespace breakwatch::engine {
namespace {

std::string Holder(int fd) {
  char text[32] = {};
  const ssize_t n = pread(fd, text, sizeof text - 1, 0);
  const std::string pid(Trim(std::string_view(text, n > 0 ? static_cast<std::size_t>(n) : 0)));
  return pid.empty() ? "another process" : "process " + ShortLine(pid, 20);
}

// False: the file was removed or replaced while this process waited for it.
bool IsStillAt(int fd, const std::string& path) {
  struct stat open_file {
  }, named{};
  return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
         open_file.st_dev == named.st_dev;
}

// The descriptor with the lock; -1 if another process has it and `waits` is false.
Result<int> Open(const std::string& folder, bool waits, const std::function<void(std::string_view)>& note) {
  const std::string path = folder + "/lock";
  for (;;) {
    if (auto made = MakeFolder(folder); !made) return made.error();
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return DiskError(path, errno);
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const std::string holder = Holder(fd);
      if (!waits) return close(fd), Error{ErrorCode::kUnavailable, holder + " works on " + folder, true, {}};
      note(holder + " works on this artifact; waiting until it ends");
      while (flock(fd, LOCK_EX) != 0) {
        if (errno != EINTR) return close(fd), DiskError(path, errno);
      }
    }
    if (IsStillAt(fd, path)) {
      const std::string pid = std::to_string(getpid()) + "\n";
      if (ftruncate(fd, 0) != 0 || pwrite(fd, pid.data(), pid.size(), 0) < 0) {
        const Error failed = DiskError(path, errno);
        return close(fd), failed;
      }
      return fd;
    }
    close(fd);
  }
}

}  // namespace

Result<ArtifactLock> ArtifactLock::Take(const std::string& folder, const std::function<void(std::string_view)>& note) {
  const auto fd = Open(folder, /*waits=*/true, note);
  if (!fd) return fd.error();
  return ArtifactLock(*fd);
}

Result<ArtifactLock> ArtifactLock::TryTake(const std::string& folder) {
  const auto fd = Open(folder, /*waits=*/false, {});
  if (!fd) return fd.error();
  return ArtifactLock(*fd);
}

ArtifactLock::~ArtifactLock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace breakwatch::engine
