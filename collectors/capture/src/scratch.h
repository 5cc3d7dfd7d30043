// ScratchFolder: where one zygote and its captures put files; gone with the zygote, also when that is killed.
#pragma once

#include <string>

namespace breakwatch::capture {

// The destructor removes the folder and all in it.
class ScratchFolder {
 public:
  ScratchFolder() = default;
  // Makes a folder of its own in `parent`. Empty when `parent` is, or when it cannot be made: the worker then
  // uses the system's, and says so itself where that fails.
  explicit ScratchFolder(const std::string& parent);
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Removes what zygotes of daemons that were killed have left in `parent`.
void RemoveAbandonedFolders(const std::string& parent);

}  // namespace breakwatch::capture
