// A folder for the files that libtorch unpacks from packages and, after a failed load, leaves behind.
#pragma once

#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::artifact {

// Owner: main. While it exists, TMPDIR names it. The destructor removes it with its content.
class OwnTmpdir {
 public:
  static Result<OwnTmpdir> Make();

  OwnTmpdir(OwnTmpdir&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  OwnTmpdir& operator=(OwnTmpdir&&) = delete;
  ~OwnTmpdir();

 private:
  explicit OwnTmpdir(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace breakwatch::artifact
