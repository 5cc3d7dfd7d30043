// The failures of a database, and the Error for each: what failed, why, and what to do.
#pragma once

#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::store {

enum class Failure {
  kDiskFull,
  kDiskError,
  kLocked,
  kCorrupted,
  kCannotOpen,
  kReadOnly,
  kDuplicate,
  kConnectionLost,
  kReplaced,
  kOther,
};

// `database`: its name for the operator; `cause`: the library's text.
Error ToError(Failure failure, const std::string& database, const std::string& cause);

}  // namespace breakwatch::store
