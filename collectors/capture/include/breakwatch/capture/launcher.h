// The sandbox that a worker runs in: bubblewrap, else Landlock, else none.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::capture {

struct SandboxOptions {
  std::vector<std::string> worker;         // the worker's command; Python is run once to find its files
  std::vector<std::string> readable;       // further files and folders: the worker package, the user's own code
  std::vector<std::string> writable;       // folders whose content the worker may change, also below something hidden
  std::vector<std::string> hidden;         // hidden even below something readable: secrets, our state
  std::int64_t scratch_bytes = 1LL << 30;  // what it may write; the rest of the machine is read-only
  std::vector<std::string> confine;        // this program and the subcommand that calls ConfineAndExec (confine.h)
  bool system_files = true;  // show the folders of programs and libraries; otherwise only what is `readable`
};

// The sandbox, as in results. The fourth is the user's own capture.launcher.
inline constexpr char kBubblewrap[] = "bubblewrap", kLandlock[] = "landlock", kNoSandbox[] = "none",
                      kOwnLauncher[] = "launcher";

struct LauncherChoice {
  std::vector<std::string> argv;  // precedes the worker's command; empty: start it directly
  std::string used = kNoSandbox;
  std::string why;      // one line for the operator: what was found, or what to do
  std::string program;  // path of the worker's program in the sandbox; empty: as given
};

// Each is tested by running the worker's interpreter in it, because an installed one may not be allowed. Takes about
// 10 s for each that hangs.
LauncherChoice DefaultLauncher(const SandboxOptions& options);

// Where the Hub's client and other programs keep credentials, by this process's environment.
std::vector<std::string> CredentialFiles();

// The output of a program, run in this process's environment. Error: kUnavailable if it cannot be started, takes longer
// than `timeout`, prints more than `max_bytes`, or fails.
Result<std::string> RunProgram(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                               std::size_t max_bytes);

}  // namespace breakwatch::capture
