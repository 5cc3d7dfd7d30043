#include "failure.h"

#include <algorithm>
#include <array>

#include "breakwatch/core/text.h"

namespace breakwatch::store {
namespace {

struct Explanation {
  Failure failure;
  ErrorCode code;
  bool retryable;
  const char* what;
  const char* suggestion;
};

constexpr std::array kExplanations{
    Explanation{Failure::kDiskFull, ErrorCode::kStore, true, "the disk is full",
                "free some space; nothing of this step was written"},
    Explanation{Failure::kDiskError, ErrorCode::kStore, true, "reading or writing the disk failed",
                "check file size limits, quotas and the disk; nothing of this step was written"},
    Explanation{Failure::kLocked, ErrorCode::kStore, true, "locked by another program for longer than the time-out",
                "another breakwatch, a backup or a database shell may hold it: wait or end it"},
    Explanation{
        Failure::kCorrupted, ErrorCode::kStore, false, "damaged, or not a database of breakwatch",
        "`breakwatch store check` lists the damage, `breakwatch store repair` keeps everything else; or restore a "
        "backup"},
    Explanation{Failure::kCannotOpen, ErrorCode::kStore, false, "cannot be opened",
                "check that it exists, its permissions, and --state-dir or store.url"},
    Explanation{Failure::kReadOnly, ErrorCode::kStore, false, "cannot be written",
                "check owner and permissions of the file and its directory, which also has the journal"},
    Explanation{Failure::kDuplicate, ErrorCode::kInvalid, false, "refused a row that breaks a rule of the schema",
                "it exists already, or refers to something that does not"},
    Explanation{Failure::kConnectionLost, ErrorCode::kStore, true, "the connection is lost",
                "check that the server runs; the next call reconnects"},
    Explanation{Failure::kReplaced, ErrorCode::kStore, false, "was removed or replaced while it was in use",
                "start breakwatch again; nothing of this step was written"},
    Explanation{Failure::kOther, ErrorCode::kStore, false, "failed", "see the cause"},
};

constexpr std::size_t kMaxCauseBytes = 500;

}  // namespace

Error ToError(Failure failure, const std::string& database, const std::string& cause) {
  const auto* found =
      std::find_if(kExplanations.begin(), kExplanations.end(), [&](const auto& e) { return e.failure == failure; });
  return {found->code,
          database + ": " + found->what + " (" + ShortLine(Trim(cause), kMaxCauseBytes) + "); " + found->suggestion,
          found->retryable,
          {}};
}

}  // namespace breakwatch::store
