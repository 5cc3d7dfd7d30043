#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace breakwatch::hub {
namespace {

Error Fault(const std::filesystem::path& path, int error) {
  const bool absent = error == ENOENT || error == ENOTDIR;
  return {absent ? ErrorCode::kNotFound : ErrorCode::kUnavailable, path.string() + ": " + std::strerror(error)};
}

Result<std::string> ReadAll(int file, const std::filesystem::path& path, std::size_t max_bytes) {
  std::string text;
  char chunk[65536];
  while (true) {
    const ssize_t got = read(file, chunk, sizeof chunk);
    if (got == 0) return text;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fault(path, errno);
    text.append(chunk, static_cast<std::size_t>(got));
    if (text.size() > max_bytes) {
      return Error{ErrorCode::kInvalid, path.string() + ": longer than " + std::to_string(max_bytes) + " bytes"};
    }
  }
}

}  // namespace

Result<std::string> ReadFile(const std::filesystem::path& path, std::size_t max_bytes) {
  // Non-blocking, so that a FIFO in the directory cannot block the lister.
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return Fault(path, errno);
  struct stat about {};
  Result<std::string> text = Error{ErrorCode::kInvalid, path.string() + ": not a regular file"};
  if (fstat(file, &about) == 0 && S_ISREG(about.st_mode)) text = ReadAll(file, path, max_bytes);
  close(file);
  return text;
}

}  // namespace breakwatch::hub
