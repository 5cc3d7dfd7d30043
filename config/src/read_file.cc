#include "read_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace breakwatch::config {

Result<std::string> ReadAtMost(const std::string& path, std::size_t max_bytes) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(max_bytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) {
    return Error{ErrorCode::kConfig, std::string("cannot be read: ") + std::strerror(errno)};
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace breakwatch::config
