#include "landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "unique_fd.h"

namespace breakwatch::capture {
namespace {

// The structure of version 6. The header of older systems lacks the last fields.
struct Ruleset {
  std::uint64_t files = 0, network = 0, scoped = 0;
};
constexpr std::uint64_t kRefer = 1ULL << 13, kTruncate = 1ULL << 14, kDeviceControl = 1ULL << 15;
constexpr int kKnowsTruncate = 3;        // first version that handles truncation
constexpr std::uint64_t kTcp = 0b11;     // bind, connect
constexpr std::uint64_t kScopes = 0b11;  // abstract sockets, signals

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kList = LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kMakeDevices = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
constexpr std::uint64_t kFirstVersion = (1ULL << 13) - 1;
constexpr std::uint64_t kOfFiles = kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;  // the others: folders only

Error Failed(const std::string& what) {
  return {ErrorCode::kUnavailable, what + ": " + std::string(std::strerror(errno))};
}

// Returns the rights that this version supports.
std::uint64_t Handled(int version) {
  std::uint64_t rights = kFirstVersion | kRefer | kTruncate;
  if (version >= 5) rights |= kDeviceControl;
  return rights;
}

Result<void> Allow(int ruleset, const std::string& path, std::uint64_t rights) {
  const UniqueFd file(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0) return {};  // a missing path needs no right
  if (!S_ISDIR(info.st_mode)) rights &= kOfFiles;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = file.get();
  if (rights == 0 || syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) return {};
  return Failed("Landlock rejects the rule for " + path);
}

Result<void> AllowAll(int ruleset, const std::vector<std::string>& paths, std::uint64_t rights) {
  for (const std::string& path : paths) {
    if (auto allowed = Allow(ruleset, path, rights); !allowed) return allowed;
  }
  return {};
}

}  // namespace

int LandlockVersion() {
  return static_cast<int>(
      std::max(0L, syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION)));
}

std::string WhyNoLandlock(int version) {
  if (version == 0) return "the kernel has no Landlock";
  return version < kKnowsTruncate ? "the kernel's Landlock is older than version 3 (Linux 6.2)" : "";
}

Result<void> RestrictFiles(const FileAccess& access) {
  const int version = LandlockVersion();
  if (std::string why = WhyNoLandlock(version); !why.empty()) return Error{ErrorCode::kUnavailable, std::move(why)};
  const std::uint64_t handled = Handled(version);
  const Ruleset rules{handled, version >= 4 ? kTcp : 0, version >= 6 ? kScopes : 0};
  const std::size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;  // an older kernel rejects a larger size
  const UniqueFd ruleset(static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, size, 0)));
  if (!ruleset) return Failed("Landlock cannot create a ruleset");
  if (auto read = AllowAll(ruleset.get(), access.read, kReadFile | kList); !read) return read;
  if (auto list = AllowAll(ruleset.get(), access.list, kList); !list) return list;
  if (auto write = AllowAll(ruleset.get(), access.write, handled & ~kMakeDevices & ~kDeviceControl); !write)
    return write;
  if (syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) return Failed("Landlock cannot restrict the process");
  return {};
}

}  // namespace breakwatch::capture
