// RecordingWriter: writes a recording directory completely or not at all.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json_file.h"

namespace breakwatch::hub_replay {

// Writes to a temporary directory beside `dir`. Without Commit, the destructor removes it.
class RecordingWriter {
 public:
  // Error: kUsage if `dir` exists, or kStore.
  static Result<RecordingWriter> Create(const std::filesystem::path& dir);
  RecordingWriter(RecordingWriter&& other) noexcept;
  ~RecordingWriter();

  // The path must be plain (IsPlainPath). Error: kStore.
  Result<void> WriteFile(std::string_view id, std::string_view commit, std::string_view path, std::string_view bytes);
  Result<void> Commit(const Json& about, const std::vector<Json>& models,
                      const std::map<std::string, std::string>& redirects);

 private:
  explicit RecordingWriter(std::filesystem::path dir);

  std::filesystem::path dir_, part_;
};

}  // namespace breakwatch::hub_replay
