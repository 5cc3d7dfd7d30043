// A recording made for one test, in a temporary folder.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace breakwatch::hub_replay {

inline constexpr const char* kSha = "1111111111111111111111111111111111111111";
inline constexpr const char* kOldSha = "2222222222222222222222222222222222222222";

// A body with the fields that the Hub always returns; `more` is merged in (null removes nothing: it is a value).
inline nlohmann::json Body(const std::string& id, const std::string& hub_id, nlohmann::json more = {}) {
  nlohmann::json body = {{"_id", hub_id},
                         {"id", id},
                         {"sha", kSha},
                         {"private", false},
                         {"gated", false},
                         {"disabled", false},
                         {"downloads", 1},
                         {"likes", 0},
                         {"tags", {"transformers"}},
                         {"lastModified", "2025-01-01T00:00:00.000Z"},
                         {"createdAt", "2024-01-01T00:00:00.000Z"}};
  for (const auto& [key, value] : more.items()) body[key] = value;
  return body;
}

class SmallRecording {
 public:
  SmallRecording() {
    std::string name = (std::filesystem::temp_directory_path() / "hub_replay.XXXXXX").string();
    dir_ = ::mkdtemp(name.data());
    Write("recording.json", R"({"format":1,"recorded_at":"2026-01-01T00:00:00Z","endpoint":"","note":""})");
    Write("models.jsonl", "");
  }
  ~SmallRecording() { std::filesystem::remove_all(dir_); }
  SmallRecording(const SmallRecording&) = delete;
  SmallRecording& operator=(const SmallRecording&) = delete;

  SmallRecording& Add(const nlohmann::json& body) {
    lines_ += body.dump() + "\n";
    return Write("models.jsonl", lines_);
  }
  // A file at a commit of an id.
  SmallRecording& File(std::string id, const std::string& sha, const std::string& path, const std::string& bytes) {
    if (const auto slash = id.find('/'); slash != std::string::npos) id.replace(slash, 1, "--");
    return Write("files/" + id + "/" + sha + "/" + path, bytes);
  }
  SmallRecording& Write(const std::string& path, const std::string& bytes) {
    std::filesystem::create_directories((dir_ / path).parent_path());
    std::ofstream(dir_ / path, std::ios::binary) << bytes;
    return *this;
  }
  const std::filesystem::path& dir() const { return dir_; }

 private:
  std::filesystem::path dir_;
  std::string lines_;
};

}  // namespace breakwatch::hub_replay
