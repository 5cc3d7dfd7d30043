#include "mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace breakwatch::artifact {

Result<MappedFile> MappedFile::Open(const std::string& path, std::size_t max_bytes) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return Error{ErrorCode::kNotFound, path + ": cannot be opened: " + std::strerror(errno)};
  struct stat status {};
  const bool regular = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* mapped = nullptr;
  if (regular && size > 0 && size <= max_bytes) mapped = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  const int why = errno;
  close(file);
  if (!regular) return Error{ErrorCode::kNotFound, path + ": not a regular file"};
  if (size > max_bytes) {
    return Error{ErrorCode::kInvalid, path + ": longer than the limit of " + std::to_string(max_bytes) + " bytes"};
  }
  if (mapped == MAP_FAILED) return Error{ErrorCode::kNotFound, path + ": cannot be read: " + std::strerror(why)};
  return MappedFile({static_cast<const char*>(mapped), size});
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());  // NOLINT: as the call requires
}

}  // namespace breakwatch::artifact
