// Makes a toolchain: a virtual environment with the packages of a lock file, or with one torch and one transformers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

struct EnvironmentRecipe {
  std::string target;       // a link: the environment lies beside it, in <target>-<key>
  std::string python;       // the interpreter that makes it: a path, or a name on PATH
  std::string lock;         // file of pip's requirements with hashes; the only packages that are installed
  std::string torch_index;  // URL of another index for torch and torchvision, without hashes; empty: none

  // Instead of the lock file: exactly these versions, the rest as pip resolves it. It is recorded in lock.txt.
  std::string torch, transformers;
  std::vector<std::string> packages;  // further requirements

  std::optional<std::uint64_t> min_free_bytes;  // the free space without which nothing is begun; none: an estimate

  std::string worker;          // the folder of the worker's package, which becomes importable
  std::string runner;          // breakwatch-runner, which is copied beside the interpreter; empty: none
  bool keep_replaced = false;  // keep the environment that the link led to before
};

// What has to be done for a recipe.
struct EnvironmentPlan {
  std::string key;               // environments of recipes with the same key are equal
  std::string folder;            // of the environment
  bool is_complete = false;      // the link leads to it: nothing has to be done
  bool is_made = false;          // only the link is missing
  bool was_interrupted = false;  // an earlier run did not end
  std::size_t packages = 0;      // in the lock file; 0: unknown
  std::uint64_t needed_bytes = 0, free_bytes = 0;
};
Result<EnvironmentPlan> PlanEnvironment(const EnvironmentRecipe& recipe);

struct EnvironmentProgress {
  enum class Step { kCreate, kFetch, kInstall, kCheck };
  Step step = Step::kCreate;
  std::size_t done = 0, total = 0;  // packages of this step; total 0: unknown
  std::string package{};            // the one being fetched
  std::int64_t bytes = 0, of_bytes = 0;
};

struct EnvironmentFollow {
  std::function<void(const EnvironmentProgress&)> on_progress;  // twice a second, and when something changes
  int stop_fd = -1;                                             // once it is readable, the work stops
};

struct MadeEnvironment {
  std::string python;  // its interpreter, by the link
  std::string torch, transformers, python_version;
  bool was_made = false;  // false: it was complete already
};

// Makes the environment, tests that it imports torch and transformers, and only then lets the link lead to it. The one
// that the link led to before is removed. An interrupted run leaves the link as it was; the next one begins again, with
// what pip's cache has. The output of pip is in <target>-<key>.log until it succeeds.
// Error: kUsage, the interpreter cannot make environments; kStore, no space; kUnavailable, no index; kInvalid, a hash
// or a version; kInterrupted. Each says what to do.
Result<MadeEnvironment> MakeEnvironment(const EnvironmentRecipe& recipe, const EnvironmentFollow& follow);

}  // namespace breakwatch::capture
