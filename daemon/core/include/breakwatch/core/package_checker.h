// PackageChecker: the interface to the program that loads a package and compares its outputs with the recorded ones.
#pragma once

#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch {

struct PackageVerdict {
  std::string status;       // "ok", "wrong_result", "failed_check", or "refused": it was not loaded
  std::string detail;       // one line; may be empty if ok
  std::string report_json;  // JSON object: times, memory and the comparison of each output
};

// Owner: the command that checks. Thread: the command's.
class PackageChecker {
 public:
  virtual ~PackageChecker() = default;
  // Error: kUnavailable if the checking program cannot be started. A package that crashes it, exceeds its memory limit
  // or takes too long has the status "failed_check".
  virtual Result<PackageVerdict> Check(const std::string& folder) = 0;
};

}  // namespace breakwatch
