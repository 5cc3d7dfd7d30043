// The folders of packages being made.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace breakwatch::engine {

inline constexpr std::string_view kWorkPrefix = "work-";

// Counts, and removes if asked to, those of an artifact. The caller holds the artifact's lock, so nobody works in them.
inline int RemoveWork(const std::string& folder, bool dry_run = false) {
  int found = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (!entry.path().filename().string().starts_with(kWorkPrefix)) continue;
    ++found;
    std::error_code ignored;
    if (!dry_run) std::filesystem::remove_all(entry.path(), ignored);
  }
  return found;
}

}  // namespace breakwatch::engine
