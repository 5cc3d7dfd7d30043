// What a database can fail with, and the Error each becomes: names what failed, the cause and what to do.
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

// `database`: how the operator knows it; `cause`: the library's own text.
Error ToError(Failure failure, const std::string& database, const std::string& cause);

}  // namespace breakwatch::store
