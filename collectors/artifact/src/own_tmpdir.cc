#include "own_tmpdir.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace breakwatch::artifact {

Result<OwnTmpdir> OwnTmpdir::Make() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error) return Error{ErrorCode::kStore, "no folder for temporary files: " + error.message() + " (see TMPDIR)"};
  std::string path = parent / "breakwatch-runner-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::kStore, parent.string() + ": cannot make a folder: " + std::strerror(errno)};
  }
  setenv("TMPDIR", path.c_str(), 1);
  return OwnTmpdir(path);
}

OwnTmpdir::~OwnTmpdir() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace breakwatch::artifact
