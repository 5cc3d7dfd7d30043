#include "breakwatch/capture/confine.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "landlock.h"
#include "seccomp.h"

namespace breakwatch::capture {
namespace {

constexpr int kCannotConfine = 71, kNoProgram = 127;
constexpr int kMostCapabilities = 64;

struct Confinement {
  bool landlock = false;
  FileAccess access;
  std::vector<std::string> program;
};

std::optional<Confinement> Parse(const std::vector<std::string>& arguments) {
  Confinement out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      out.program.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    const bool has_value = i + 1 < arguments.size();
    if (argument == "--landlock") {
      out.landlock = true;
    } else if (argument == "--read" && has_value) {
      out.access.read.push_back(arguments[++i]);
    } else if (argument == "--write" && has_value) {
      out.access.write.push_back(arguments[++i]);
    } else if (argument == "--list" && has_value) {
      out.access.list.push_back(arguments[++i]);
    } else {
      return std::nullopt;
    }
  }
  if (out.program.empty()) return std::nullopt;
  return out;
}

// Changing the bounding set needs a capability, so it comes first. Without it, a program run by root would regain all
// capabilities.
Result<void> DropCapabilities() {
  for (int capability = 0; capability < kMostCapabilities; ++capability) prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};
  if (syscall(SYS_capset, &header, none) == 0) return {};
  return Error{ErrorCode::kUnavailable, "cannot drop capabilities: " + std::string(std::strerror(errno))};
}

Result<void> Confine(Confinement& confinement) {
  if (auto dropped = DropCapabilities(); !dropped) return dropped;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return Error{ErrorCode::kUnavailable, "cannot set no_new_privs: " + std::string(std::strerror(errno))};
  }
  if (!confinement.landlock) return InstallSyscallFilter(Sockets::kAllowed);
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // without a process namespace, nothing else ends it with the daemon
  if (const char* scratch = std::getenv("TMPDIR"); scratch != nullptr && *scratch == '/')
    confinement.access.write.emplace_back(scratch);
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/full"}) confinement.access.write.emplace_back(device);
  if (auto restricted = RestrictFiles(confinement.access); !restricted) return restricted;
  return InstallSyscallFilter(Sockets::kDenied);
}

}  // namespace

int ConfineAndExec(const std::vector<std::string>& arguments) {
  auto confinement = Parse(arguments);
  if (!confinement) {
    std::fprintf(stderr,
                 "usage: sandbox-exec [--landlock] [--read PATH]... [--list PATH]... [--write PATH]... -- PROGRAM "
                 "ARGUMENTS...\n");
    return kCannotConfine;
  }
  if (const auto confined = Confine(*confinement); !confined) {
    std::fprintf(stderr, "sandbox-exec: %s\n", confined.error().message.c_str());
    return kCannotConfine;
  }
  std::vector<char*> argv;
  for (std::string& word : confinement->program) argv.push_back(word.data());
  argv.push_back(nullptr);
  execvp(argv.front(), argv.data());
  std::fprintf(stderr, "sandbox-exec: cannot start %s: %s\n", argv.front(), std::strerror(errno));
  return kNoProgram;
}

}  // namespace breakwatch::capture
