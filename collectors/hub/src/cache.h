// HubCache: reads and writes the Python client's shared cache on disk, in its layout.
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
  std::string sha;  // the commit in refs/main
};

// Thread: the caller's; other processes may use the same directory. Reading never changes files. An invalid id,
// revision or commit (model_id.h, IsCommit) counts as missing, so no unchecked name becomes a path.
class HubCache {
 public:
  // With an empty directory, nothing is found and nothing is stored.
  HubCache(std::string directory, std::size_t max_config_bytes);

  // `file`: a trusted path inside the repository.
  std::optional<std::string> ReadConfig(const std::string& id, const std::string& sha,
                                        const std::string& file = kConfigFile) const;
  bool IsKnownAbsent(const std::string& id, const std::string& sha, const std::string& file = kConfigFile) const;
  // The commit of a branch or tag. A commit resolves to itself.
  std::optional<std::string> ReadRef(const std::string& id, const std::string& revision) const;
  // Models with a known default branch and a config.json or a model_index.json, by id.
  std::vector<CachedModel> Models() const;
  // The path of the config.json, for messages.
  std::string ConfigPath(const std::string& id, const std::string& sha) const;

  // Error: kUnavailable with path and cause. It is not an error if another process writes the same file.
  Result<void> StoreConfig(const std::string& id, const std::string& sha, const std::string& etag,
                           const std::string& bytes, const std::string& file = kConfigFile) const;
  Result<void> StoreAbsent(const std::string& id, const std::string& sha, const std::string& file = kConfigFile) const;
  // Writes a branch, unless its current snapshot has other files than configurations. Offline users could then no
  // longer find the files that they downloaded.
  Result<void> StoreRef(const std::string& id, const std::string& revision, const std::string& sha) const;
  // --- weights, which are too large to pass as text
  // Where the file with this digest is or belongs. Empty: there is no cache, or the id is invalid.
  std::string BlobPath(const std::string& id, const std::string& digest) const;
  // The folder of a commit; may not exist.
  std::string Snapshot(const std::string& id, const std::string& sha) const { return SnapshotPath(id, sha); }
  // Names a stored blob in the folder of a commit. Error: kUnavailable.
  Result<void> LinkBlob(const std::string& id, const std::string& sha, const std::string& digest,
                        const std::string& file) const;

 private:
  std::filesystem::path RepositoryPath(const std::string& id) const;
  std::filesystem::path SnapshotPath(const std::string& id, const std::string& sha) const;
  bool IsUsable(const std::string& id, const std::string& sha) const;

  const std::filesystem::path directory_;
  const std::size_t max_config_bytes_;
};

}  // namespace breakwatch::hub
