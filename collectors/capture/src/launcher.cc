#include "breakwatch/capture/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "environment.h"
#include "process.h"
#include "worker_text.h"

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kProbeTimeout{10'000};

// Shared places where other programs leave data and sockets; a private, empty one each for the worker.
const std::vector<std::string>& HiddenFolders() {
  static const std::vector<std::string> kFolders = {"/tmp", "/var/tmp", "/run"};
  return kFolders;
}

// Where people keep credentials, below the home directory.
const std::vector<std::string>& HiddenBelowHome() {
  static const std::vector<std::string> kPaths = {
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
      ".cache/huggingface/token",
      ".cache/huggingface/stored_tokens",
  };
  return kPaths;
}

bool IsBelow(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> Credentials() {
  std::vector<fs::path> paths;
  if (const std::string home = Variable("HOME"); !home.empty()) {
    for (const std::string& path : HiddenBelowHome()) paths.push_back(fs::path(home) / path);
  }
  if (const std::string home = Variable("HF_HOME"); !home.empty()) {
    paths.push_back(fs::path(home) / "token");
    paths.push_back(fs::path(home) / "stored_tokens");
  }
  if (const std::string path = Variable("HF_TOKEN_PATH"); !path.empty()) paths.emplace_back(path);
  return paths;
}

// A file becomes unreadable, a folder empty; what is not there needs neither.
void Hide(const fs::path& path, std::vector<std::string>* argv) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  if (error) return;
  if (fs::is_directory(real, error)) {
    argv->insert(argv->end(), {"--tmpfs", real});
  } else {
    argv->insert(argv->end(), {"--ro-bind", "/dev/null", real});
  }
}

// The path itself, and where it leads: an environment is often a link.
void BindAgain(const fs::path& path, std::vector<std::string>* argv) {
  std::error_code error;
  for (const fs::path& seen : {fs::absolute(path, error), fs::canonical(path, error)}) {
    if (error || !fs::exists(seen, error)) continue;
    const bool hidden = std::any_of(HiddenFolders().begin(), HiddenFolders().end(),
                                    [&](const std::string& folder) { return seen != folder && IsBelow(seen, folder); });
    if (hidden) argv->insert(argv->end(), {"--ro-bind", seen.lexically_normal(), seen.lexically_normal()});
  }
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

std::vector<std::string> SandboxArguments(const std::string& bwrap, const fs::path& scratch,
                                          const std::vector<std::string>& visible) {
  std::vector<std::string> argv = {bwrap, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"};
  std::error_code error;
  for (const std::string& folder : HiddenFolders()) {
    if (fs::is_directory(folder, error) && !fs::is_symlink(folder, error)) {
      argv.insert(argv.end(), {"--tmpfs", folder});
    }
  }
  BindAgain(fs::current_path(error), &argv);  // a relative program is sought from there
  for (const std::string& path : visible) BindAgain(path, &argv);
  for (const fs::path& path : Credentials()) Hide(path, &argv);
  argv.insert(argv.end(), {"--bind", scratch, scratch});
  argv.insert(argv.end(), {"--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"});
  argv.push_back("--");
  return argv;
}

}  // namespace

LauncherChoice DefaultLauncher(const std::string& scratch, const std::vector<std::string>& visible) {
  const std::string bwrap = FindProgram("bwrap");
  if (bwrap.empty()) return {{}, "no sandbox: bwrap is not installed; mend: apt-get install bubblewrap"};
  std::error_code error;
  fs::create_directories(scratch, error);
  const fs::path writable = fs::canonical(scratch, error);
  if (error) return {{}, "no sandbox: cannot make the scratch directory " + scratch + ": " + error.message()};

  const std::vector<std::string> argv = SandboxArguments(bwrap, writable, visible);
  std::vector<std::string> probe = argv;
  probe.push_back("true");
  ZygoteOptions options;
  const Result<ProcessOutput> tried = RunProcess(probe, WorkerEnvironment(options, ""), kProbeTimeout, 64 * 1024);
  if (tried.ok() && !tried->timed_out && !tried->end.signalled && tried->end.value == 0) {
    return {argv, "bubblewrap: read-only view, no network, own processes (" + bwrap + ")"};
  }
  const std::string why = !tried.ok() ? tried.error().message : tried->timed_out ? "it hangs" : LastLine(tried->err);
  return {{},
          "no sandbox: " + bwrap + " is not allowed here (" + why +
              "); mend: allow user namespaces (sysctl kernel.unprivileged_userns_clone=1), or name another "
              "capture.launcher"};
}

}  // namespace breakwatch::capture
