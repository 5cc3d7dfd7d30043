#include "breakwatch/capture/launcher.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>

#include "breakwatch/capture/confine.h"
#include "bubblewrap.h"
#include "environment.h"
#include "interpreter.h"
#include "landlock.h"
#include "process.h"
#include "view.h"
#include "worker_text.h"

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr milliseconds kProbeTimeout{10'000};
constexpr std::size_t kProbeBytes = 64 * 1024;

// Usual places of credentials, below the home directory.
constexpr const char* kBelowHome[] = {
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".config/gcloud",
    ".config/gh",
    ".cargo/credentials.toml",
};
constexpr const char* kOfTheHub[] = {"token", "stored_tokens"};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Expands "~" and "~/..." as the Hub's client does.
fs::path Expanded(const std::string& path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  return fs::path(Variable("HOME")) / path.substr(path.size() < 2 ? 1 : 2);
}

std::string FindProgram(const std::string& name) {
  const std::string path = Variable("PATH");
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    const fs::path program = fs::path(path.substr(start, end - start)) / name;
    if (access(program.c_str(), X_OK) == 0) return program;
    start = end + 1;
  }
  return "";
}

Words Joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Lists the paths below `folder` that contain nothing hidden, because Landlock cannot hide part of a visible folder.
// Neither `folder` nor `hidden` contains links: paths are compared by name, and the kernel follows links.
void Expand(const fs::path& folder, const std::vector<fs::path>& hidden, Words* argv) {
  bool whole = true;
  for (const fs::path& secret : hidden) {
    if (secret == folder) return;
    whole = whole && !IsBelow(secret, folder);
  }
  if (whole) {
    argv->insert(argv->end(), {"--read", folder});
    return;
  }
  argv->insert(argv->end(), {"--list", folder});
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->is_symlink(error)) Expand(at->path(), hidden, argv);
  }
}

Words LandlockArguments(const View& view, const Words& confine) {
  Words argv = Joined(confine, {"--landlock"});
  for (const char* path : {"/proc", "/dev/random", "/dev/urandom"}) argv.insert(argv.end(), {"--read", path});
  std::set<fs::path> shown;
  for (const auto* paths : {&view.system, &view.readable}) {
    for (const fs::path& path : *paths) shown.insert(RealPath(path));
  }
  shown.erase(fs::path());  // missing paths
  for (const fs::path& path : shown) Expand(path, view.hidden, &argv);
  for (const fs::path& path : view.writable) argv.insert(argv.end(), {"--write", path});
  argv.push_back("--");
  return argv;
}

struct Tried {
  bool works = false, hangs = false;
  std::string why;
};

Tried Try(const Words& launcher, const Words& probe) {
  const Result<ProcessOutput> tried =
      RunProcess(Joined(launcher, probe), WorkerEnvironment({}, ""), kProbeTimeout, kProbeBytes);
  if (!tried.ok()) return {false, false, tried.error().message};
  if (tried->timed_out) return {false, true, "no answer within 10 s"};
  if (!tried->end.signalled && tried->end.value == 0) return {true, false, ""};
  const std::string last = LastLine(tried->err);
  return {false, false, last.empty() ? tried->end.Text() : last};
}

struct Search {
  View view;
  Words probe;
  std::string why_not;  // why each attempt failed
};

// Docker and Podman mark their containers with a file.
std::string NeededInContainers() {
  std::error_code error;
  if (!fs::exists("/.dockerenv", error) && !fs::exists("/run/.containerenv", error)) return "";
  return "; in a container it needs seccomp=docker/seccomp.json, apparmor=unconfined and systempaths=unconfined: see "
         "docker/README.md";
}

std::optional<Words> FindBubblewrap(const SandboxOptions& options, Search* search) {
  const std::string bwrap = FindProgram("bwrap");
  if (bwrap.empty()) {
    search->why_not = "bwrap is not installed";
    return std::nullopt;
  }
  Words confine = options.confine;
  if (!confine.empty()) confine.push_back("--");
  for (const BubblewrapOptions& variant : {BubblewrapOptions{bwrap, options.scratch_bytes, true, true},
                                           BubblewrapOptions{bwrap, options.scratch_bytes, true, false},
                                           // Root does not need a user namespace, and must not use one if files belong
                                           // to other users.
                                           BubblewrapOptions{bwrap, options.scratch_bytes, false, false}}) {
    if (!variant.user_namespace && geteuid() != 0) continue;
    Words argv = Joined(BubblewrapArguments(search->view, variant), confine);
    const Tried tried = Try(argv, search->probe);
    if (tried.works) return argv;
    if (search->why_not.empty()) search->why_not = bwrap + " does not work here (" + tried.why + ")";
    if (tried.hangs) break;
  }
  search->why_not += NeededInContainers();
  return std::nullopt;
}

std::optional<Words> FindLandlock(const SandboxOptions& options, Search* search) {
  if (options.confine.empty()) return std::nullopt;
  if (const std::string why = WhyNoLandlock(LandlockVersion()); !why.empty()) {
    search->why_not += "; " + why;
    return std::nullopt;
  }
  Words argv = LandlockArguments(search->view, options.confine);
  const Tried tried = Try(argv, search->probe);
  if (tried.works) return argv;
  search->why_not += "; Landlock does not work either (" + tried.why + ")";
  return std::nullopt;
}

}  // namespace

std::vector<std::string> CredentialFiles() {
  std::vector<std::string> paths;
  const fs::path home = Variable("HOME");
  if (!home.empty()) {
    for (const char* path : kBelowHome) paths.push_back(home / path);
  }
  // All folders that the Hub's client may use, because its settings may change later.
  std::vector<fs::path> folders = {Expanded(Variable("HF_HOME")), home / ".cache/huggingface"};
  if (const std::string cache = Variable("XDG_CACHE_HOME"); !cache.empty())
    folders.push_back(Expanded(cache) / "huggingface");
  for (const fs::path& folder : folders) {
    for (const char* name : kOfTheHub) {
      if (!folder.empty()) paths.push_back(folder / name);
    }
  }
  if (const std::string path = Variable("HF_TOKEN_PATH"); !path.empty()) paths.push_back(Expanded(path));
  return paths;
}

LauncherChoice DefaultLauncher(const SandboxOptions& options) {
  Words readable = options.readable;
  if (!options.confine.empty()) readable.push_back(options.confine.front());
  LauncherChoice choice;
  Search search{{}, {FindProgram("true")}, ""};
  if (!options.system_files) readable.push_back(search.probe.front());
  if (!options.worker.empty()) {
    const std::string& program = options.worker.front();
    readable.push_back(program);
    if (const auto interpreter = AskInterpreter(program)) {
      readable.insert(readable.end(), interpreter->files.begin(), interpreter->files.end());
      choice.program = interpreter->program;
      search.probe = {interpreter->program, "-I", "-c", "import encodings, _ctypes"};
    }
  }
  search.view = MakeView(readable, Joined(options.hidden, CredentialFiles()), options.writable);
  if (!options.system_files) search.view.system.clear();
  if (auto argv = FindBubblewrap(options, &search)) {
    choice.argv = *std::move(argv);
    choice.used = kBubblewrap;
    choice.why = "only the interpreter, its environment and scratch are visible; no network, no other processes";
    return choice;
  }
  if (auto argv = FindLandlock(options, &search)) {
    choice.argv = *std::move(argv);
    choice.used = kLandlock;
    choice.why = "the same by Landlock and a system call filter; bubblewrap is not used: " + search.why_not;
    return choice;
  }
  return {{},
          kNoSandbox,
          "no sandbox: " + search.why_not +
              "; install bubblewrap (apt-get install bubblewrap) and allow user namespaces "
              "(sysctl kernel.unprivileged_userns_clone=1), or set capture.launcher",
          ""};
}

}  // namespace breakwatch::capture
