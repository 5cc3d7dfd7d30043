// `repro --keep` and `--trace`: the capture once more, in a folder that stays.
#pragma once

#include <string>

#include "breakwatch/core/sweep.h"
#include "commands.h"

namespace breakwatch::commands {

struct KeptFolder {
  std::string folder;   // absolute
  std::string command;  // that repeats the capture
  std::string found;    // "STATUS: DETAIL"
  std::string trace;    // the TORCH_TRACE directory; empty: none was wanted
};

// Captures the model of a result of mode `repro` again, in its main mode, in a new folder of the state directory.
// `script`: the file of the result, kept there as repro.py; may be empty.
// Error: kInvalid for a model that was not captured; kStore; kInternal, naming the folder.
Result<KeptFolder> KeepCapture(App& app, const ModelResult& result, const std::string& script, bool trace);

// What is in the folder, and the command.
std::string TextOf(const KeptFolder& kept, bool has_script);

}  // namespace breakwatch::commands
