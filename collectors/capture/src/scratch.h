// ScratchFolder: temporary files of one zygote and its captures. Removed with the zygote, even if it was killed.
#pragma once

#include <string>

namespace breakwatch::capture {

// The destructor removes the folder and all in it.
class ScratchFolder {
 public:
  ScratchFolder() = default;
  // Creates a new folder in `parent`. The path is empty if `parent` is empty or if creation fails. The worker then uses
  // the system's folder, and reports an error if that fails.
  explicit ScratchFolder(const std::string& parent);
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Removes the folders in `parent` of daemons that no longer run.
void RemoveAbandonedFolders(const std::string& parent);

}  // namespace breakwatch::capture
