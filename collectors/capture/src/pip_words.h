// What pip prints, read for progress and for the cause of a failure. Its words are not a stable interface: text that is
// not recognized changes nothing but the wording.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

class PipWords {
 public:
  void Read(std::string_view line);

  std::size_t collected() const { return collected_; }     // packages that pip has begun to fetch
  const std::string& package() const { return package_; }  // the newest of them: "torch", or the file's name
  std::int64_t file_bytes() const { return file_bytes_; }  // of the file that it downloads; 0: unknown
  bool installs() const { return installs_; }              // all packages are fetched

  // Why pip failed, and what to do.
  Error Failure() const;

 private:
  std::size_t collected_ = 0;
  std::string package_;
  std::int64_t file_bytes_ = 0;
  bool installs_ = false;
  std::deque<std::string> newest_;  // lines that may say why
};

}  // namespace breakwatch::capture
