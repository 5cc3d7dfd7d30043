// Making a toolchain: what `breakwatch setup` asks its factory for, and what it hears of the work.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace breakwatch::commands {

struct SetupRequest {
  std::string name{};                       // of the toolchain; never empty for a factory
  std::string python;                       // interpreter; empty: the system's
  std::string torch_index;                  // URL; empty: the usual index
  std::string torch, transformers;          // versions instead of the lock file's; both or none
  std::vector<std::string> packages;        // further requirements, with `torch`
  std::string dir;                          // where the toolchain shall be; empty: its usual place
  bool keep_old = false;                    // keep the environment that it replaces
  std::optional<std::uint64_t> min_free{};  // bytes without which nothing is begun; none: an estimate
};

// What a request would do.
struct SetupPlan {
  std::string path;  // of the toolchain
  bool is_complete = false, was_interrupted = false;
  std::size_t packages = 0;  // 0: unknown
  std::uint64_t needed_bytes = 0, free_bytes = 0;
};

struct SetupProgress {
  std::string step;                 // "create the environment", "fetch", "install", "test"
  std::size_t done = 0, total = 0;  // packages; total 0: unknown
  std::string package;              // the one being fetched
  std::int64_t bytes = 0, of_bytes = 0;
};

struct SetupFollow {
  std::function<void(const SetupProgress&)> on_progress;
  int stop_fd = -1;  // once it is readable, the work stops with kInterrupted
};

struct MadeToolchain {
  std::string python;  // its interpreter
  std::string torch, transformers, python_version;
  bool was_made = false;  // false: it was complete already
};

}  // namespace breakwatch::commands
