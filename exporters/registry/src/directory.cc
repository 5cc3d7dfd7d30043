// A registry in a directory: blobs/sha256/<digest>, and index.json, which is replaced after all blobs of a package are
// there.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "json_at.h"
#include "registries.h"

namespace breakwatch::exporters {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t kMaxIndexBytes = 64u << 20;
constexpr int kMaxIndexDepth = 8;
constexpr std::string_view kTemporary = ".new-";

struct Entry {
  PublishedPackage package;
  std::vector<PackageFile> files;
};

// One publisher at a time.
class DirectoryLock {
 public:
  static Result<DirectoryLock> Take(const std::string& path) {
    const std::string file = path + "/.lock";
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return DiskError(file, errno);
    while (flock(fd, LOCK_EX) != 0) {
      if (errno != EINTR) return close(fd), DiskError(file, errno);
    }
    return DirectoryLock(fd);
  }
  DirectoryLock(DirectoryLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock() {
    if (fd_ >= 0) close(fd_);
  }

 private:
  explicit DirectoryLock(int fd) : fd_(fd) {}
  int fd_;
};

// nullopt: no entry of ours.
std::optional<Entry> ReadEntry(const json& in) {
  if (!in.is_object() || !in.contains("files") || !in["files"].is_array()) return std::nullopt;
  Entry entry;
  entry.package = {TextOf(in, "package_id"),  TextOf(in, "model"), TextOf(in, "revision"), TextOf(in, "target"), "",
                   TextOf(in, "published_at")};
  if (!IsSha256(entry.package.package_id)) return std::nullopt;
  for (const json& file : in["files"]) {
    if (!file.is_object() || !file.contains("bytes") || !file["bytes"].is_number_integer()) return std::nullopt;
    entry.files.push_back({TextOf(file, "path"), TextOf(file, "sha256"), file["bytes"].get<std::int64_t>()});
    if (!IsPlainName(entry.files.back().path) || !IsSha256(entry.files.back().sha256)) return std::nullopt;
  }
  return entry;
}

json WriteEntry(const Entry& entry) {
  json files = json::array();
  for (const PackageFile& file : entry.files)
    files.push_back({{"path", file.path}, {"sha256", file.sha256}, {"bytes", file.bytes}});
  const PublishedPackage& package = entry.package;
  return {{"package_id", package.package_id},     {"model", package.model},
          {"revision", package.revision},         {"target", package.target},
          {"published_at", package.published_at}, {"files", std::move(files)}};
}

class DirectoryRegistry final : public ArtifactRegistry {
 public:
  DirectoryRegistry(std::string path, std::string id, const Clock& clock)
      : path_(std::move(path)), id_(std::move(id)), clock_(clock) {}

  std::string Place() const override { return "dir:" + path_; }

  Result<std::string> Publish(const Package& package, const std::vector<PackageFile>& files) override {
    if (auto made = MakeFolder(Blobs()); !made) return made.error();
    const auto lock = DirectoryLock::Take(path_);
    if (!lock) return lock.error();
    RemoveTemporary();
    for (const PackageFile& file : files) {
      if (auto stored = StoreBlob(package.folder + "/" + file.path, file); !stored) return stored.error();
    }
    if (auto added = AddEntry(package, files); !added) return added.error();
    return ReferenceOf(package.id);
  }

  Result<void> Pull(const PackageQuery& query, const std::string& folder) override {
    const auto entries = ReadIndex();
    if (!entries) return entries.error();
    const auto found = std::find_if(entries->rbegin(), entries->rend(), [&](const Entry& entry) {
      return Matches(entry.package, query) && entry.package.package_id.starts_with(id_);
    });
    if (found == entries->rend()) return NoSuchPackage(Place());
    for (const PackageFile& file : found->files) {
      const std::string to = folder + "/" + file.path;
      if (auto copied = Copy(BlobPath(file), to); !copied) return copied;
      if (auto checked = CheckFetched(to, file, Place()); !checked) return checked;
    }
    return {};
  }

  Result<std::vector<PublishedPackage>> List() override {
    const auto entries = ReadIndex();
    if (!entries) return entries.error();
    std::vector<PublishedPackage> packages;
    for (auto entry = entries->rbegin(); entry != entries->rend() && packages.size() < kMaxListed; ++entry) {
      packages.push_back(entry->package);
      packages.back().reference = ReferenceOf(entry->package.package_id);
    }
    return packages;
  }

 private:
  std::string Blobs() const { return path_ + "/blobs/sha256"; }
  std::string Index() const { return path_ + "/index.json"; }
  std::string BlobPath(const PackageFile& file) const { return Blobs() + "/" + file.sha256; }
  std::string ReferenceOf(const std::string& id) const { return Place() + "@" + std::string(kDigestPrefix) + id; }

  // What a killed publisher left: the lock says that there is no other.
  void RemoveTemporary() const {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(Blobs(), error)) {
      if (entry.path().filename().string().starts_with(kTemporary)) RemoveAll(entry.path().string());
    }
  }

  static Result<void> Copy(const std::string& from, const std::string& to) {
    std::error_code error;
    fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
    if (!error) return {};
    if (error == std::errc::no_such_file_or_directory)
      return Error{ErrorCode::kInvalid, from + " is missing in the registry"};
    return DiskError(to, error.value());
  }

  Result<void> StoreBlob(const std::string& from, const PackageFile& file) const {
    const std::string to = BlobPath(file);
    if (CheckFetched(to, file, Place())) return {};  // a damaged one is replaced
    const std::string fresh = Blobs() + "/" + std::string(kTemporary) + file.sha256;
    auto stored = Copy(from, fresh);
    if (stored) stored = CheckFetched(fresh, file, Place());
    if (stored) stored = MoveFileIntoPlace(fresh, to);
    if (!stored) RemoveAll(fresh);
    return stored;
  }

  // Error: kInvalid if it cannot be read; a directory without an index has no packages.
  Result<std::vector<Entry>> ReadIndex() const {
    std::error_code ignored;
    if (!fs::exists(Index(), ignored)) {
      if (fs::is_directory(path_, ignored)) return std::vector<Entry>();
      return Error{ErrorCode::kNotFound, path_ + " is no registry: there is no such directory"};
    }
    std::ostringstream text;
    text << std::ifstream(Index(), std::ios::binary).rdbuf();
    if (auto checked = CheckJson(text.str(), kMaxIndexBytes, kMaxIndexDepth); !checked)
      return checked.error().Within(Index());
    const json index = json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
    if (!index.is_object() || index.value("schema", json()) != 1 || !index["packages"].is_array())
      return Error{ErrorCode::kInvalid, Index() + " is no index of version 1"};
    std::vector<Entry> entries;
    for (const json& in : index["packages"]) {
      auto entry = ReadEntry(in);
      if (!entry) return Error{ErrorCode::kInvalid, Index() + " has an invalid entry"};
      entries.push_back(*std::move(entry));
    }
    return entries;
  }

  // The newest entry is last. One package has one entry.
  Result<void> AddEntry(const Package& package, const std::vector<PackageFile>& files) const {
    auto entries = ReadIndex();
    if (!entries) return entries.error();
    std::erase_if(*entries, [&](const Entry& entry) { return entry.package.package_id == package.id; });
    const Manifest& manifest = package.manifest;
    entries->push_back(
        {{package.id, manifest.model, manifest.revision, manifest.target, "", FormatTime(clock_.Now())}, files});
    json index = {{"schema", 1}, {"packages", json::array()}};
    for (const Entry& entry : *entries) index["packages"].push_back(WriteEntry(entry));
    return WriteWhole(Index(), JsonDocument(index, 1));
  }

  const std::string path_, id_;
  const Clock& clock_;
};

}  // namespace

Result<std::unique_ptr<ArtifactRegistry>> MakeDirectoryRegistry(const std::string& path, const std::string& id,
                                                                const Clock& clock) {
  if (path.empty()) return Error{ErrorCode::kUsage, "dir: needs a path, as in dir:/srv/models"};
  std::error_code error;
  const std::string absolute = fs::absolute(path, error).lexically_normal().string();
  return std::unique_ptr<ArtifactRegistry>(std::make_unique<DirectoryRegistry>(absolute, id, clock));
}

}  // namespace breakwatch::exporters
