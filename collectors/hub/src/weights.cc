#include "breakwatch/hub/weights.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/package.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "cache.h"
#include "hub_client.h"
#include "model_id.h"

namespace breakwatch::hub {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kSingle = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr std::int64_t kMaxIndexBytes = 16LL << 20;
// Files outside LFS have a SHA-1 of git, which is computed in memory.
constexpr std::int64_t kMaxPlainBytes = 64LL << 20;
constexpr std::size_t kMaxShards = 1'000;
constexpr int kMaxDepth = 32;

// A file of a commit, as the Hub lists it.
struct RemoteFile {
  std::string name;
  std::string digest;  // SHA-256 of an LFS file, else git's object id
  std::int64_t bytes = 0;
};

Error Invalid(const std::string& text) { return {ErrorCode::kInvalid, text}; }

std::string TextOf(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::int64_t NumberOf(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

bool IsDigest(const std::string& text) { return IsSha256(text) || IsCommit(text); }

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// By name. Error: kInvalid, the answer is no listing.
Result<std::map<std::string, RemoteFile>> ReadFiles(const std::string& body) {
  const json info = json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!info.is_object() || !info.contains("siblings") || !info["siblings"].is_array())
    return Invalid("the Hub's answer lists no files");
  std::map<std::string, RemoteFile> files;
  for (const json& sibling : info["siblings"]) {
    const std::string name = TextOf(sibling, "rfilename");
    const json lfs = sibling.is_object() ? sibling.value("lfs", json()) : json();
    const bool is_lfs = IsSha256(TextOf(lfs, "sha256"));
    RemoteFile file{name, is_lfs ? TextOf(lfs, "sha256") : TextOf(sibling, "blobId"),
                    is_lfs ? NumberOf(lfs, "size") : NumberOf(sibling, "size")};
    if (IsDigest(file.digest) && file.bytes >= 0) files[name] = std::move(file);
  }
  return files;
}

// The names of shards in an index. They become paths, so only plain names of safetensors files are taken.
Result<std::set<std::string>> ShardsOf(const std::string& text) {
  if (auto checked = CheckJson(text, static_cast<std::size_t>(kMaxIndexBytes), kMaxDepth); !checked)
    return checked.error().Within(kIndex);
  const json index = json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::set<std::string> names;
  if (!index.is_object() || !index.contains("weight_map") || !index["weight_map"].is_object())
    return Invalid(std::string(kIndex) + " has no weight_map");
  for (const auto& [parameter, name] : index["weight_map"].items()) {
    const std::string file = name.is_string() ? name.get<std::string>() : "";
    if (!file.ends_with(".safetensors") || file.find('/') != std::string::npos || file.starts_with('.') ||
        file.size() > 200 || names.size() > kMaxShards)
      return Invalid(std::string(kIndex) + " names an invalid shard \"" + ShortLine(file, 100) + "\"");
    names.insert(file);
  }
  return names;
}

Result<void> CheckDigest(const std::string& path, const RemoteFile& file) {
  std::string digest;
  if (IsSha256(file.digest)) {
    auto computed = Sha256OfFile(path);
    if (!computed) return computed.error();
    digest = *std::move(computed);
  } else if (file.bytes > kMaxPlainBytes) {
    return Invalid(file.name + " is larger than 64 MiB and not stored in LFS: its digest cannot be verified");
  } else {
    digest = GitBlobId(ReadAll(path));
  }
  if (digest == file.digest) return {};
  return Invalid(file.name + " has digest " + digest + ", the Hub lists " + file.digest);
}

// A file that is being downloaded. One process at a time has it; another waits.
class PartialFile {
 public:
  explicit PartialFile(const std::string& path)
      : path_(path), fd_(open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
    while (fd_ >= 0 && flock(fd_, LOCK_EX) != 0 && errno == EINTR) continue;
  }
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() {
    if (fd_ >= 0) close(fd_);
  }
  bool ok() const { return fd_ >= 0; }
  std::int64_t Size() const {
    struct stat at {};
    return fstat(fd_, &at) == 0 ? at.st_size : -1;
  }
  Result<void> Clear() { return ftruncate(fd_, 0) == 0 ? Result<void>() : DiskError(path_, errno); }
  Result<void> Append(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return DiskError(path_, errno);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
  }

 private:
  const std::string path_;
  const int fd_;
};

class HubWeights final : public WeightsFetcher {
 public:
  HubWeights(HubOptions options, std::int64_t max_bytes, const Clock& clock)
      : options_(std::move(options)),
        max_bytes_(max_bytes),
        cache_(options_.cache_dir, options_.max_config_bytes),
        client_(options_, clock) {}

  Result<std::string> Fetch(const std::string& model, const std::string& revision, const Progress& progress) override {
    if (!IsModelId(model) || !IsCommit(revision)) return Invalid(model + "@" + revision + " is no commit of a model");
    const std::string folder = cache_.Snapshot(model, revision);
    std::error_code ignored;
    if (options_.offline) {
      if (fs::exists(folder + "/" + kSingle, ignored) || fs::exists(folder + "/" + kIndex, ignored)) return folder;
      return Error{ErrorCode::kUnavailable, "offline, and " + folder + " has no weights"};
    }
    const auto files = FilesOf(model, revision);
    if (!files) return Hidden(files.error());
    std::uint64_t done = 0, total = 0;
    for (const RemoteFile& file : *files) total += static_cast<std::uint64_t>(file.bytes);
    if (total > static_cast<std::uint64_t>(max_bytes_)) {
      return Invalid("the weights of " + model + " have " + std::to_string(total) + " bytes, more than the " +
                     std::to_string(max_bytes_) + " of artifact.max_weight_bytes");
    }
    for (const RemoteFile& file : *files) {
      if (auto stored = Store(model, revision, file); !stored) return Hidden(stored.error());
      done += static_cast<std::uint64_t>(file.bytes);
      if (progress) progress(done, total);
    }
    return folder;
  }

 private:
  Error Hidden(Error error) const {
    error.message = client_.WithoutToken(std::move(error.message));
    return error;
  }

  Result<net::HttpResponse> Ask(Kind kind, const std::string& target, net::Headers headers = {}) {
    Result<net::HttpResponse> answer = Error{ErrorCode::kInternal, "no answer"};
    client_.Get(
        kind, target, [&](HubClient::Answer a) { answer = std::move(static_cast<Result<net::HttpResponse>&>(a)); },
        std::move(headers));
    if (auto ran = client_.Run({}); !ran) return ran.error();
    return answer;
  }

  static Error Unexpected(const net::HttpResponse& answer, const std::string& what) {
    return {answer.status == 404 ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
            "the Hub answered " + std::to_string(answer.status) + " for " + what + ": " + ShortLine(answer.body, 200)};
  }

  static std::string FileUrl(const std::string& model, const std::string& revision, const std::string& name) {
    return "/" + model + "/resolve/" + revision + "/" + net::PercentEncode(name);
  }

  // The weights of a commit. The index of shards is fetched to know them.
  Result<std::vector<RemoteFile>> FilesOf(const std::string& model, const std::string& revision) {
    const auto info = Ask(Kind::kInfo, "/api/models/" + model + "/revision/" + revision + "?blobs=true");
    if (!info) return info.error();
    if (info->status != 200) return Unexpected(*info, model);
    const auto listed = ReadFiles(info->body);
    if (!listed) return listed.error();
    if (const auto single = listed->find(kSingle); single != listed->end()) return std::vector{single->second};
    const auto index = listed->find(kIndex);
    if (index == listed->end())
      return Error{ErrorCode::kNotFound, model + " at " + revision + " has no safetensors files"};
    if (index->second.bytes > kMaxIndexBytes) return Invalid(std::string(kIndex) + " is longer than 16 MiB");
    if (auto stored = Store(model, revision, index->second); !stored) return stored.error();
    const auto shards = ShardsOf(ReadAll(cache_.BlobPath(model, index->second.digest)));
    if (!shards) return shards.error();
    std::vector<RemoteFile> files = {index->second};
    for (const std::string& name : *shards) {
      const auto shard = listed->find(name);
      if (shard == listed->end()) return Invalid("shard " + name + " of " + kIndex + " is not in the repository");
      files.push_back(shard->second);
    }
    return files;
  }

  // Downloads a file unless the cache has it, and names it in the folder of the commit.
  Result<void> Store(const std::string& model, const std::string& revision, const RemoteFile& file) {
    const std::string blob = cache_.BlobPath(model, file.digest);
    if (auto made = MakeFolder(fs::path(blob).parent_path().string()); !made) return made;
    const std::string partial = blob + ".breakwatch.incomplete";
    std::error_code ignored;
    if (!fs::exists(blob, ignored)) {
      PartialFile out(partial);
      if (!out.ok()) return DiskError(partial, errno);
      // The process that had it may have completed it meanwhile.
      if (!fs::exists(blob, ignored)) {
        auto stored = Download(FileUrl(model, revision, file.name), file, out);
        if (stored) stored = CheckDigest(partial, file);
        if (!stored && stored.error().code == ErrorCode::kInvalid) (void)out.Clear();  // the next run starts again
        if (stored) stored = MoveFileIntoPlace(partial, blob);
        if (!stored) return stored;
      } else {
        RemoveAll(partial);
      }
    }
    auto linked = cache_.LinkBlob(model, revision, file.digest, file.name);
    return linked ? linked : Error{ErrorCode::kStore, linked.error().message};
  }

  // Appends what is missing, part by part. Each answer must be exactly the part that was asked for, of a file of the
  // listed size.
  Result<void> Download(const std::string& url, const RemoteFile& file, PartialFile& out) {
    if (out.Size() > file.bytes) {
      if (auto cleared = out.Clear(); !cleared) return cleared;
    }
    for (std::int64_t done = out.Size(); done < file.bytes;) {
      const std::int64_t last = std::min(file.bytes, done + static_cast<std::int64_t>(kMaxRangeBytes)) - 1;
      const std::string part = std::to_string(done) + "-" + std::to_string(last);
      const auto answer = Ask(Kind::kRange, url, {{"Range", "bytes=" + part}, {"Accept-Encoding", "identity"}});
      if (!answer) return answer.error();
      const auto wanted = static_cast<std::size_t>(last - done + 1);
      const bool whole = answer->status == 200 && done == 0 && answer->body.size() == wanted && last + 1 == file.bytes;
      if (!whole && answer->status != 206) return Unexpected(*answer, file.name);
      const std::string promised = answer->Header("content-range").value_or("");
      if (!whole && (promised != "bytes " + part + "/" + std::to_string(file.bytes) || answer->body.size() != wanted))
        return Invalid(file.name + ": asked for bytes " + part + " of " + std::to_string(file.bytes) + ", got \"" +
                       ShortLine(promised, 80) + "\"");
      if (auto written = out.Append(answer->body); !written) return written;
      done = last + 1;
    }
    return {};
  }

  const HubOptions options_;
  const std::int64_t max_bytes_;
  const HubCache cache_;
  HubClient client_;
};

}  // namespace

Result<std::unique_ptr<WeightsFetcher>> MakeWeightsFetcher(HubOptions options, std::int64_t max_bytes,
                                                           const Clock& clock) {
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();
  if (options.cache_dir.empty())
    return Error{ErrorCode::kConfig, "weights need a cache: set hub.cache_dir, HF_HUB_CACHE or HF_HOME"};
  return std::unique_ptr<WeightsFetcher>(std::make_unique<HubWeights>(std::move(options), max_bytes, clock));
}

}  // namespace breakwatch::hub
