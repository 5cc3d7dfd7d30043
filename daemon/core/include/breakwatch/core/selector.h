// Selectors of the user's own models, in addition to the Hub's names. What they name is run as code, so they are only
// taken from the user.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/model.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

// "python:package.module:function" or "script:FILE[::HASH][ -- ARGUMENTS]". Ids of the Hub contain no colon.
struct Selector {
  enum class Kind { kPython, kScript };
  Kind kind = Kind::kPython;
  std::string module, function;        // of kPython; the function may be dotted
  std::string file, hash;              // of kScript; an empty hash: the outermost module called first
  std::vector<std::string> arguments;  // of kScript, split at blanks
};

bool IsSelector(std::string_view id);
// Error: kUsage, with the reason.
Result<Selector> ParseSelector(std::string_view id);
std::string SelectorText(const Selector& selector);

// Whether a selector named this listed or planned model: its config_json is a worker's `source`. Decided by what our
// own lister wrote, never by the content of a repository.
bool RunsOwnCode(const ModelInfo& info);

// Error: kUsage for a selector if such code is not allowed to run.
Result<void> RefuseOwnCode(const std::string& id);

}  // namespace breakwatch
