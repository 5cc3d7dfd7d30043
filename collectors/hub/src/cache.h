// HubCache: the Python client's shared cache on disk, read and written in its layout.
//
//   CACHEDIR.TAG
//   .locks/models--org--name/<etag>.lock      held (flock) while a blob is written
//   models--org--name/
//     blobs/<etag>                            written as <etag>.<8 hex>.incomplete, then renamed
//     refs/main                               40 hex, no newline
//     snapshots/<sha>/config.json             relative link ../../blobs/<etag>; a copy where links fail
//     snapshots/<sha>/unet/config.json        the same of a file in a folder: ../../../blobs/<etag>
//     .no_exist/<sha>/config.json             empty: known to be absent
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::hub {

inline constexpr const char* kConfigFile = "config.json";

struct CachedModel {
  std::string id;
  std::string sha;  // of refs/main
};

// Thread: the caller's; other processes may use the same directory. Reading never changes anything. An id, revision or
// commit that is not one (model_id.h, IsCommit) is as good as absent: no name from outside becomes a path unchecked.
class HubCache {
 public:
  // An empty directory: nothing is found and nothing is kept.
  HubCache(std::string directory, std::size_t max_config_bytes);

  // `file`: a path inside the repository, of our own making.
  std::optional<std::string> ReadConfig(const std::string& id, const std::string& sha,
                                        const std::string& file = kConfigFile) const;
  bool IsKnownAbsent(const std::string& id, const std::string& sha, const std::string& file = kConfigFile) const;
  // The commit of a branch or tag; a commit is its own.
  std::optional<std::string> ReadRef(const std::string& id, const std::string& revision) const;
  // Models whose default branch is known and has a config.json or a model_index.json, by id.
  std::vector<CachedModel> Models() const;
  // Where the config.json would be: for messages.
  std::string ConfigPath(const std::string& id, const std::string& sha) const;

  // Error: kUnavailable with path and cause. Another process writing the same is no error.
  Result<void> StoreConfig(const std::string& id, const std::string& sha, const std::string& etag,
                           const std::string& bytes, const std::string& file = kConfigFile) const;
  Result<void> StoreAbsent(const std::string& id, const std::string& sha, const std::string& file = kConfigFile) const;
  // Leaves a branch alone whose present snapshot holds more than configurations: moving it would take files that
  // somebody downloaded out of the reach of offline use.
  Result<void> StoreRef(const std::string& id, const std::string& revision, const std::string& sha) const;

 private:
  std::filesystem::path RepositoryPath(const std::string& id) const;
  std::filesystem::path SnapshotPath(const std::string& id, const std::string& sha) const;
  bool IsUsable(const std::string& id, const std::string& sha) const;

  const std::filesystem::path directory_;
  const std::size_t max_config_bytes_;
};

}  // namespace breakwatch::hub
