// Selectors of the user's own models, beside the Hub's names: what they name runs as code, so nothing but a person's
// own words may be one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/model.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

// "python:package.module:function" or "script:FILE[::HASH][ -- ARGUMENTS]". No id of the Hub holds a colon.
struct Selector {
  enum class Kind { kPython, kScript };
  Kind kind = Kind::kPython;
  std::string module, function;        // of kPython; the function may be dotted
  std::string file, hash;              // of kScript; an empty hash: the outermost module called first
  std::vector<std::string> arguments;  // of kScript, split at blanks
};

bool IsSelector(std::string_view id);
// Error: kUsage, saying what is wrong with it.
Result<Selector> ParseSelector(std::string_view id);
std::string SelectorText(const Selector& selector);

// Whether a listed or planned model is one that a selector named: its config_json is a worker's `source`. Decided by
// what our own lister wrote, never by what a repository says of itself.
bool RunsOwnCode(const ModelInfo& info);

// Error: kUsage, for a name that is a selector where such code is not allowed to run.
Result<void> RefuseOwnCode(const std::string& id);

}  // namespace breakwatch
