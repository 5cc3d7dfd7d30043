#include "bubblewrap.h"

#include <map>

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr const char* kScratch = "/breakwatch/scratch";
// Kernel information that root's user ID can read. No capture needs it.
constexpr const char* kHiddenOfProc[] = {"/proc/kallsyms",      "/proc/kcore",      "/proc/keys",
                                         "/proc/latency_stats", "/proc/slabinfo",   "/proc/sched_debug",
                                         "/proc/timer_list",    "/proc/vmallocinfo"};

// One mount, and whether paths below it are visible.
struct Mount {
  enum class Kind { kShown, kEmpty } kind = Kind::kShown;
  Words words;
};

class Mounts {
 public:
  void Show(const fs::path& path, const fs::path& source) {
    if (!IsShown(path)) mounts_[path] = {Mount::Kind::kShown, {"--ro-bind", source, path}};
  }
  // Shows a folder that may be written, wherever it is.
  void Open(const fs::path& path) { mounts_[path] = {Mount::Kind::kShown, {"--bind", path, path}}; }
  void ShowSystemFile(const fs::path& path) {
    std::error_code error;
    if (fs::is_symlink(path, error) && path.parent_path() == "/") {
      mounts_[path] = {Mount::Kind::kShown, {"--symlink", fs::read_symlink(path, error), path}};
    } else if (fs::exists(path, error)) {
      Show(path, path);
    }
  }
  void Put(const fs::path& path, Words words) { mounts_[path] = {Mount::Kind::kEmpty, std::move(words)}; }
  void PutMemory(const fs::path& path, std::int64_t bytes) {
    Put(path, {"--size", std::to_string(bytes), "--tmpfs", path});
  }
  // Hides the path at every place where it is mounted.
  void Hide(const fs::path& secret) {
    std::error_code error;
    const bool folder = fs::is_directory(secret, error);
    std::map<fs::path, Mount> blanks;
    for (const auto& [path, mount] : mounts_) {
      if (mount.words.front() == "--symlink") continue;  // it is hidden at the link's target
      const fs::path real = mount.kind == Mount::Kind::kShown ? fs::canonical(path, error) : fs::path();
      if (error || real.empty() || !IsBelow(secret, real) || secret == real) continue;
      const fs::path place = path / secret.lexically_relative(real);
      blanks[place] = {Mount::Kind::kEmpty, folder ? Words{"--tmpfs", place} : Words{"--ro-bind", "/dev/null", place}};
      if (folder) read_only_.push_back(place);
    }
    for (auto& [path, mount] : blanks) mounts_.try_emplace(path, std::move(mount));
  }
  void MakeReadOnly(const fs::path& path) { read_only_.push_back(path); }

  // Paths are in order, so a folder comes before the mounts inside it.
  void AppendTo(Words* argv) const {
    for (const auto& [path, mount] : mounts_) argv->insert(argv->end(), mount.words.begin(), mount.words.end());
    for (const fs::path& path : read_only_) argv->insert(argv->end(), {"--remount-ro", path});
  }

 private:
  // True if a visible mount contains the path and no empty mount lies between.
  bool IsShown(const fs::path& path) const {
    for (fs::path at = path; at != at.parent_path(); at = at.parent_path()) {
      if (const auto found = mounts_.find(at); found != mounts_.end()) return found->second.kind == Mount::Kind::kShown;
    }
    return false;
  }

  std::map<fs::path, Mount> mounts_;
  std::vector<fs::path> read_only_;
};

Mounts MountsOf(const View& view, std::int64_t bytes) {
  Mounts mounts;
  mounts.Put("/proc", {"--proc", "/proc"});
  mounts.Put("/dev", {"--dev", "/dev"});
  mounts.PutMemory("/dev/shm", bytes / 8);
  mounts.PutMemory("/tmp", bytes / 8);
  mounts.PutMemory(kScratch, bytes / 4 * 3);
  for (const fs::path& path : view.system) mounts.ShowSystemFile(path);
  // A folder comes before its content, which then needs no mount of its own.
  std::map<fs::path, bool> readable;
  for (const fs::path& path : view.readable) readable[path] = true;
  for (const auto& [path, seen] : readable) mounts.Show(path, path);
  for (const fs::path& secret : view.hidden) mounts.Hide(secret);
  // A path that was requested by name is visible even inside a hidden folder.
  for (const auto& [path, seen] : readable) mounts.Show(path, path);
  for (const fs::path& path : view.writable) mounts.Open(path);
  std::error_code error;
  for (const char* path : kHiddenOfProc) {
    if (fs::exists(path, error)) mounts.Put(path, {"--ro-bind", "/dev/null", path});
  }
  for (const char* path : {"/proc", "/dev", "/"}) mounts.MakeReadOnly(path);
  return mounts;
}

}  // namespace

std::vector<std::string> BubblewrapArguments(const View& view, const BubblewrapOptions& options) {
  Words argv = {options.program};
  if (options.user_namespace) argv.insert(argv.end(), {"--unshare-user", "--uid", "1000", "--gid", "1000"});
  if (options.user_namespace && options.bar_namespaces) argv.push_back("--disable-userns");
  // The worker is the first process of its namespace, so no other process holds its pipes.
  argv.insert(argv.end(),
              {"--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname",
               "breakwatch", "--as-pid-1", "--die-with-parent", "--new-session", "--cap-drop", "ALL"});
  MountsOf(view, options.scratch_bytes).AppendTo(&argv);
  for (const char* name : {"HOME", "TMPDIR", "TORCHINDUCTOR_CACHE_DIR"})
    argv.insert(argv.end(), {"--setenv", name, kScratch});
  // Only the worker uses these folders. It empties them after each capture.
  argv.insert(argv.end(), {"--setenv", "BREAKWATCH_SCRATCH", std::string(kScratch) + ":/tmp:/dev/shm"});
  argv.insert(argv.end(), {"--chdir", kScratch, "--"});
  return argv;
}

}  // namespace breakwatch::capture
