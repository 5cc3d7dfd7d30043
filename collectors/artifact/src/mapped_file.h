// MappedFile: a file's bytes in memory, read-only, without a copy.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "breakwatch/core/result.h"

namespace breakwatch::artifact {

// Owner: the caller of Open; the destructor unmaps. A file that is shortened meanwhile ends the program by SIGBUS.
class MappedFile {
 public:
  // Error: kNotFound if it cannot be opened or is not a regular file (a link is not); kInvalid above `max_bytes`.
  static Result<MappedFile> Open(const std::string& path, std::size_t max_bytes);

  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }

 private:
  explicit MappedFile(std::string_view bytes) : bytes_(bytes) {}

  std::string_view bytes_;
};

}  // namespace breakwatch::artifact
