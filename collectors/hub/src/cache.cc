#include "cache.h"

#include <algorithm>

#include "breakwatch/core/text.h"
#include "bundle.h"
#include "files.h"
#include "model_id.h"

namespace breakwatch::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "models--";
constexpr std::string_view kSeparator = "--";

std::string FolderOf(const std::string& id) {
  std::string folder(kPrefix);
  const std::size_t slash = id.find('/');
  folder += id.substr(0, slash);
  if (slash != std::string::npos) folder.append(kSeparator).append(id, slash + 1);
  return folder;
}

// Splits at the first separator only: names may contain "--".
std::optional<std::string> IdOf(std::string_view folder) {
  if (!folder.starts_with(kPrefix)) return std::nullopt;
  folder.remove_prefix(kPrefix.size());
  const std::size_t at = folder.find(kSeparator);
  std::string id(folder.substr(0, at));
  if (at != folder.npos) id.append("/").append(folder.substr(at + kSeparator.size()));
  if (!IsModelId(id)) return std::nullopt;
  return id;
}

}  // namespace

HubCache::HubCache(std::string directory, std::size_t max_config_bytes)
    : directory_(std::move(directory)), max_config_bytes_(max_config_bytes) {}

fs::path HubCache::RepositoryPath(const std::string& id) const { return directory_ / FolderOf(id); }

fs::path HubCache::SnapshotPath(const std::string& id, const std::string& sha) const {
  return RepositoryPath(id) / "snapshots" / sha;
}

bool HubCache::IsUsable(const std::string& id, const std::string& sha) const {
  return !directory_.empty() && IsModelId(id) && IsCommit(sha);
}

std::string HubCache::ConfigPath(const std::string& id, const std::string& sha) const {
  return (SnapshotPath(id, sha) / "config.json").string();
}

std::optional<std::string> HubCache::ReadConfig(const std::string& id, const std::string& sha,
                                                const std::string& file) const {
  if (!IsUsable(id, sha)) return std::nullopt;
  Result<std::string> text = ReadFile(SnapshotPath(id, sha) / file, max_config_bytes_);
  if (!text) return std::nullopt;
  return *std::move(text);
}

bool HubCache::IsKnownAbsent(const std::string& id, const std::string& sha, const std::string& file) const {
  std::error_code ignored;
  return IsUsable(id, sha) && fs::exists(RepositoryPath(id) / ".no_exist" / sha / file, ignored);
}

std::optional<std::string> HubCache::ReadRef(const std::string& id, const std::string& revision) const {
  if (IsCommit(revision)) return revision;
  if (directory_.empty() || !IsModelId(id) || !IsRevision(revision)) return std::nullopt;
  constexpr std::size_t kMaxBytes = 200;
  const Result<std::string> text = ReadFile(RepositoryPath(id) / "refs" / revision, kMaxBytes);
  if (!text) return std::nullopt;
  const std::string_view sha = Trim(*text);
  if (!IsCommit(sha)) return std::nullopt;
  return std::string(sha);
}

std::vector<CachedModel> HubCache::Models() const {
  std::vector<CachedModel> models;
  if (directory_.empty()) return models;
  std::error_code error;
  for (fs::directory_iterator entry(directory_, error), end; !error && entry != end; entry.increment(error)) {
    const auto id = IdOf(entry->path().filename().string());
    const auto sha = id ? ReadRef(*id, "main") : std::nullopt;
    std::error_code ignored;
    if (!sha) continue;
    const fs::path snapshot = SnapshotPath(*id, *sha);
    if (fs::exists(snapshot / kConfigFile, ignored) || fs::exists(snapshot / kModelIndex, ignored)) {
      models.push_back({*id, *sha});
    }
  }
  std::sort(models.begin(), models.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return models;
}

}  // namespace breakwatch::hub
