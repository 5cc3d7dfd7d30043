#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <random>

#include "breakwatch/core/text.h"
#include "bundle.h"
#include "cache.h"
#include "model_id.h"

namespace breakwatch::hub {
namespace {

namespace fs = std::filesystem;

Error Fault(const fs::path& path, int error) {
  return {ErrorCode::kUnavailable, path.string() + ": " + std::strerror(error)};
}

Result<void> MakeDirectories(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return Fault(path, error.value());
  return {};
}

std::string RandomHex8() {
  static constexpr char kHex[] = "0123456789abcdef";
  std::random_device random;
  unsigned bits = random();
  std::string out(8, '0');
  for (char& c : out) {
    c = kHex[bits & 15];
    bits >>= 4;
  }
  return out;
}

// Writes atomically: to a temporary name in the same directory, then renames.
Result<void> WriteAtomically(const fs::path& path, const std::string& bytes) {
  const fs::path temporary = path.string() + "." + RandomHex8() + ".incomplete";
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return Fault(temporary, errno);
  int error = 0;
  for (std::size_t done = 0; done < bytes.size() && error == 0;) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(file) != 0 && error == 0) error = errno;
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlink(temporary.c_str());
  return Fault(path, error);
}

// Locks a blob while it is written, as the Python client does. Best effort: some network file systems cannot lock.
// There the rename alone prevents a partial blob.
class BlobLock {
 public:
  explicit BlobLock(const fs::path& path) {
    if (!MakeDirectories(path.parent_path())) return;
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ >= 0 && flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) is_others_ = true;
  }
  BlobLock(const BlobLock&) = delete;
  BlobLock& operator=(const BlobLock&) = delete;
  ~BlobLock() {
    if (file_ >= 0) close(file_);
  }

  // Another process is writing this blob now.
  bool IsHeldByOthers() const { return is_others_; }

 private:
  int file_ = -1;
  bool is_others_ = false;
};

// The blob's name: the ETag without W/ and quotes if it is a digest, otherwise git's object id.
std::string BlobName(std::string etag, const std::string& bytes) {
  if (etag.starts_with("W/")) etag.erase(0, 2);
  std::erase(etag, '"');
  const bool is_digest = (etag.size() == 40 || etag.size() == 64) &&
                         std::all_of(etag.begin(), etag.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
  return is_digest ? etag : GitBlobId(bytes);
}

Result<void> LinkOrCopy(const fs::path& link, const fs::path& target, const std::string& bytes) {
  std::error_code error;
  if (fs::exists(link, error)) return {};
  const fs::path temporary = link.string() + "." + RandomHex8() + ".incomplete";
  if (symlink(target.c_str(), temporary.c_str()) != 0) return WriteAtomically(link, bytes);
  if (rename(temporary.c_str(), link.c_str()) == 0) return {};
  const int fault = errno;
  unlink(temporary.c_str());
  return Fault(link, fault);
}

bool HoldsOnlyConfigs(const fs::path& snapshot) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(snapshot, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path name = entry->path().filename();
    std::error_code ignored;
    if (name != kConfigFile && name != kModelIndex && !entry->is_directory(ignored)) return false;
  }
  return true;
}

}  // namespace

Result<void> HubCache::StoreConfig(const std::string& id, const std::string& sha, const std::string& etag,
                                   const std::string& bytes, const std::string& file) const {
  if (!IsUsable(id, sha)) return {};
  const std::string blob = BlobName(etag, bytes);
  const fs::path blobs = RepositoryPath(id) / "blobs";
  const fs::path link = SnapshotPath(id, sha) / file;
  for (const fs::path& path : {blobs, link.parent_path()}) {
    if (Result<void> made = MakeDirectories(path); !made) return made;
  }
  std::error_code ignored;
  if (const fs::path tag = directory_ / "CACHEDIR.TAG"; !fs::exists(tag, ignored)) {
    (void)WriteAtomically(tag,
                          "Signature: 8a477f597d28d172789f06886806bc55\n"
                          "# A cache of files from the Hugging Face Hub; see https://bford.info/cachedir/\n");
  }
  const BlobLock lock(directory_ / ".locks" / RepositoryPath(id).filename() / (blob + ".lock"));
  if (lock.IsHeldByOthers()) return {};
  if (!fs::exists(blobs / blob, ignored)) {
    if (Result<void> written = WriteAtomically(blobs / blob, bytes); !written) return written;
  }
  return LinkOrCopy(link, (blobs / blob).lexically_relative(link.parent_path()), bytes);
}

std::string HubCache::BlobPath(const std::string& id, const std::string& digest) const {
  if (directory_.empty() || !IsModelId(id)) return "";
  return RepositoryPath(id) / "blobs" / digest;
}

Result<void> HubCache::LinkBlob(const std::string& id, const std::string& sha, const std::string& digest,
                                const std::string& file) const {
  const fs::path link = SnapshotPath(id, sha) / file;
  if (Result<void> made = MakeDirectories(link.parent_path()); !made) return made;
  const fs::path target = fs::path(BlobPath(id, digest)).lexically_relative(link.parent_path());
  const fs::path temporary = link.string() + "." + RandomHex8() + ".incomplete";
  if (symlink(target.c_str(), temporary.c_str()) == 0 && rename(temporary.c_str(), link.c_str()) == 0) return {};
  const int fault = errno;
  unlink(temporary.c_str());
  return Fault(link, fault);
}

Result<void> HubCache::StoreAbsent(const std::string& id, const std::string& sha, const std::string& file) const {
  if (!IsUsable(id, sha)) return {};
  const fs::path path = RepositoryPath(id) / ".no_exist" / sha / file;
  if (Result<void> made = MakeDirectories(path.parent_path()); !made) return made;
  return WriteAtomically(path, "");
}

Result<void> HubCache::StoreRef(const std::string& id, const std::string& revision, const std::string& sha) const {
  if (!IsUsable(id, sha) || !IsRevision(revision) || IsCommit(revision)) return {};
  const auto present = ReadRef(id, revision);
  if (present == sha || (present && !HoldsOnlyConfigs(SnapshotPath(id, *present)))) return {};
  const fs::path path = RepositoryPath(id) / "refs" / revision;
  if (Result<void> made = MakeDirectories(path.parent_path()); !made) return made;
  return WriteAtomically(path, sha);
}

}  // namespace breakwatch::hub
