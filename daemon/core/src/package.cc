#include "breakwatch/core/package.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxManifestBytes = 4u << 20, kMaxFiles = 64, kBlock = 1u << 20;

Error Invalid(const std::string& text) { return {ErrorCode::kInvalid, text}; }
Error Unreadable(const std::string& path) {
  return {ErrorCode::kStore, "cannot read " + path + ": " + std::strerror(errno)};
}

class OpenFile {
 public:
  // Does not follow a link in the last part of the path, and does not wait for a pipe.
  explicit OpenFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const { return fd_; }
  bool IsPlainFile() const {
    struct stat at {};
    return fd_ >= 0 && fstat(fd_, &at) == 0 && S_ISREG(at.st_mode);
  }

 private:
  int fd_;
};

// Calls `take` for each block. False: errno has the cause.
template <class Take>
bool ReadBlocks(int fd, const Take& take) {
  std::vector<char> block(kBlock);
  for (;;) {
    const ssize_t n = read(fd, block.data(), block.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0;
    if (!take(std::string_view(block.data(), static_cast<std::size_t>(n)))) return true;
  }
}

bool IsPlainName(const std::string& name) {
  return !name.empty() && name.size() <= 128 && name.front() != '.' && name != kManifestFile &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return c > ' ' && c != '/' && c != 0x7f; });
}

Result<void> CheckFiles(const Manifest& manifest) {
  if (manifest.schema != kManifestSchema) {
    return Invalid("manifest.json has schema " + std::to_string(manifest.schema) + ", this program reads " +
                   std::to_string(kManifestSchema));
  }
  if (manifest.files.empty() || manifest.files.size() > kMaxFiles) return Invalid("manifest.json lists no files");
  std::set<std::string> seen;
  for (const PackageFile& file : manifest.files) {
    if (!IsPlainName(file.path) || file.bytes < 0 || !IsSha256(file.sha256) || !seen.insert(file.path).second)
      return Invalid("manifest.json: invalid entry for file \"" + ShortLine(file.path, 128) + "\"");
  }
  return {};
}

Result<void> VerifyFile(const std::string& folder, const PackageFile& file) {
  const std::string path = folder + "/" + file.path;
  struct stat at {};
  if (lstat(path.c_str(), &at) != 0) {
    if (errno == ENOENT) return Invalid(path + " is missing; the manifest lists it");
    return Unreadable(path);
  }
  if (!S_ISREG(at.st_mode)) return Invalid(path + " is not a plain file");
  if (at.st_size != file.bytes) {
    return Invalid(path + " has " + std::to_string(at.st_size) + " bytes, the manifest says " +
                   std::to_string(file.bytes));
  }
  const auto digest = Sha256OfFile(path);
  if (!digest) return digest.error();
  if (*digest != file.sha256) {
    return Invalid(path + " has SHA-256 " + *digest + ", the manifest says " + file.sha256 + ": it was changed");
  }
  return {};
}

}  // namespace

std::int64_t Package::Bytes() const {
  std::int64_t bytes = static_cast<std::int64_t>(manifest_text.size());
  for (const PackageFile& file : manifest.files) bytes += file.bytes;
  return bytes;
}

bool IsSha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Result<std::string> Sha256OfFile(const std::string& path) {
  const OpenFile file(path);
  if (file.fd() < 0) return Unreadable(path);
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  const bool read = ReadBlocks(file.fd(), [&](std::string_view block) {
    return EVP_DigestUpdate(context.get(), block.data(), block.size()) == 1;
  });
  if (!read) return Unreadable(path);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_DigestFinal_ex(context.get(), digest, &size);
  return Hex({digest, size});
}

Result<Package> ParsePackage(const std::string& manifest_text) {
  if (manifest_text.size() > kMaxManifestBytes) return Invalid("manifest.json is longer than 4 MiB");
  auto manifest = ManifestFromJson(manifest_text);
  if (!manifest) return manifest.error().Within("manifest.json");
  if (auto checked = CheckFiles(*manifest); !checked) return checked.error();
  return Package{"", Sha256Hex(manifest_text), manifest_text, *std::move(manifest)};
}

Result<Package> ReadPackage(const std::string& folder) {
  const std::string path = folder + "/" + std::string(kManifestFile);
  const OpenFile file(path);
  if (file.fd() < 0 && (errno == ENOENT || errno == ENOTDIR))
    return Error{ErrorCode::kNotFound, folder + " is no package: it has no manifest.json"};
  if (file.fd() < 0 && errno != ELOOP) return Unreadable(path);
  if (!file.IsPlainFile()) return Invalid(path + " is not a plain file");
  std::string text;
  const bool read = ReadBlocks(file.fd(), [&](std::string_view block) {
    text += block;
    return text.size() <= kMaxManifestBytes;
  });
  if (!read) return Unreadable(path);
  auto package = ParsePackage(text);
  if (!package) return package.error().Within(folder);
  package->folder = folder;
  return package;
}

Result<Package> VerifyPackage(const std::string& folder) {
  auto package = ReadPackage(folder);
  if (!package) return package;
  std::set<std::string> known = {std::string(kManifestFile)};
  for (const PackageFile& file : package->manifest.files) {
    if (auto verified = VerifyFile(folder, file); !verified) return verified.error();
    known.insert(file.path);
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename();
    if (!known.contains(name)) return Invalid(folder + "/" + name + " is not in the manifest");
  }
  if (error) return Error{ErrorCode::kStore, "cannot list " + folder + ": " + error.message()};
  return package;
}

}  // namespace breakwatch
