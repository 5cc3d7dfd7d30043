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
  std::vector<std::string> worker;         // the worker's command; a Python is asked for what it needs to run
  std::vector<std::string> readable;       // files and folders that it needs beside: its package, the user's own code
  std::vector<std::string> hidden;         // never shown, although below something readable: secrets, our state
  std::int64_t scratch_bytes = 1LL << 30;  // what it may write; the rest of the machine is read-only
  std::vector<std::string> confine;        // this program and the subcommand that calls ConfineAndExec (confine.h)
};

// What was used, as results say it. Somebody's own capture.launcher is the fourth.
inline constexpr char kBubblewrap[] = "bubblewrap", kLandlock[] = "landlock", kNoSandbox[] = "none",
                      kOwnLauncher[] = "launcher";

struct LauncherChoice {
  std::vector<std::string> argv;  // goes before the worker's command; empty: start it directly
  std::string used = kNoSandbox;
  std::string why;      // one line for the operator: what was found, and what to do when nothing was
  std::string program;  // the worker's program as it is seen in the sandbox; empty: as it was given
};

// Each is tried by running the worker's interpreter in it once, since one can be installed and still not allowed. Takes
// at most some 10 s for each that hangs.
LauncherChoice DefaultLauncher(const SandboxOptions& options);

// Where the Hub's client and other programs keep credentials, by this process's environment.
std::vector<std::string> CredentialFiles();

// What a program prints, run to its end in this process's environment. Error: kUnavailable, it cannot be started, takes
// longer than `timeout`, prints more than `max_bytes`, or fails.
Result<std::string> RunProgram(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                               std::size_t max_bytes);

}  // namespace breakwatch::capture
