#include <algorithm>
#include <filesystem>
#include <map>

#include "artifact_work.h"
#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/package.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/artifact_stages.h"

namespace breakwatch::engine {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxArtifacts = 100'000;

bool IsWeights(const fs::path& name) {
  return name.extension() == ".safetensors" || name == "model.safetensors.index.json";
}

// Removes the folder of one artifact, with the lock in it. False: another process works on it.
bool Remove(const std::string& folder) {
  const auto lock = ArtifactLock::TryTake(folder);
  if (!lock) return false;
  RemoveAll(folder);
  return true;
}

// What killed builds left, also of artifacts without a row.
void RemoveWorkBelow(const std::string& root, bool dry_run, Collected& out) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    if (RemoveWork(entry.path().string(), /*dry_run=*/true) == 0) continue;
    const auto lock = ArtifactLock::TryTake(entry.path().string());
    if (lock) out.abandoned += RemoveWork(entry.path().string(), dry_run);
  }
}

}  // namespace

Result<Collected> CollectArtifacts(store::ArtifactStore& store, const std::string& root,
                                   const CollectOptions& options) {
  auto artifacts = store.Artifacts("", "", kMaxArtifacts);
  if (!artifacts) return artifacts.error();
  Collected out;
  std::map<std::pair<std::string, std::string>, int> kept;
  std::int64_t kept_bytes = 0;
  for (Artifact& artifact : *artifacts) {  // the newest first
    const std::string folder = root + "/" + artifact.key;
    const std::int64_t bytes = BytesBelow(folder + "/package");
    int& count = kept[{artifact.request.model, artifact.request.target}];
    const bool too_many = options.keep_last > 0 && count >= options.keep_last;
    const bool too_large = options.max_bytes > 0 && kept_bytes + bytes > options.max_bytes;
    if (!too_many && !too_large) {
      ++count, kept_bytes += bytes;
      continue;
    }
    if (!options.dry_run) {
      if (!Remove(folder)) {
        out.skipped.push_back(artifact.key);
        continue;
      }
      // Files first: a row without files is built again, files without a row would stay forever.
      if (auto removed = store.RemoveArtifact(artifact.key); !removed) return removed.error();
    }
    out.bytes += bytes;
    out.removed.push_back(std::move(artifact));
  }
  RemoveWorkBelow(root, options.dry_run, out);
  return out;
}

Result<std::string> DigestOfWeights(const std::string& folder) {
  std::map<std::string, std::string> digests;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const fs::path name = entry.path().filename();
    std::error_code ignored;
    if (!IsWeights(name)) continue;
    const auto digest = Sha256OfFile(fs::canonical(entry.path(), ignored).string());  // a cache has links
    if (!digest) return digest.error();
    digests[name.string()] = *digest;
  }
  if (error) return Error{ErrorCode::kUsage, "cannot list " + folder + ": " + error.message()};
  if (digests.empty()) return Error{ErrorCode::kUsage, folder + " has no safetensors files"};
  std::string text;
  for (const auto& [name, digest] : digests) text += digest + "  " + name + "\n";
  return Sha256Hex(text);
}

}  // namespace breakwatch::engine
