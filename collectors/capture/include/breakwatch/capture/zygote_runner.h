// The CaptureRunner with zygotes: processes that use PROTOCOL.md over standard input and output.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/capture_runner.h"
#include "breakwatch/core/clock.h"

namespace breakwatch::capture {

using std::chrono::milliseconds;

// Names (shell patterns, case ignored) of variables that never reach a worker: secrets, and the daemon's own.
std::vector<std::string> SecretVariables();
// What reaches a worker: paths of programs and libraries, language and time zone.
std::vector<std::string> PlainVariables();

struct ZygoteOptions {
  std::vector<std::string> launcher;  // put before `worker`; see DefaultLauncher; may be empty
  std::vector<std::string> worker;    // argument vector; a relative program is relative to the working directory
  std::map<std::string, std::string> environment;     // set for the worker, after dropping
  std::vector<std::string> keep = PlainVariables();   // names (patterns) of our variables that reach the worker
  std::vector<std::string> drop = SecretVariables();  // except these
  std::vector<std::string> pass;                      // and always these
  std::string sandbox = "none";                       // name of `launcher` in results
  std::string sandbox_warning;                        // for the operator, at each sweep; may be empty
  std::string refuse_own, refuse_library;  // why captures of own code, of library models are refused; empty: allowed
  std::string scratch;                     // writable directory for captures, created if missing; empty: the system's
  std::string toolchain = "default";       // name given to results
  std::size_t zygotes = 1;                 // processes, one capture each at a time
  milliseconds silence{20'000};            // without a message for longer: lost
  milliseconds hello{120'000};             // from start to the first message; imports from a cold disk are slow
  milliseconds kill_grace{1'000};          // between SIGTERM and SIGKILL
  milliseconds overdue{5'000};             // past a limit that the zygote did not enforce: both are ended
  milliseconds backoff_first{250};         // before a start that follows a failed one; doubles
  milliseconds backoff_limit{30'000};
  std::string lock_file;                      // MachineLock's; empty: measurements do not exclude other captures
  int start_attempts = 3;                     // failed starts in a row until Start refuses
  std::function<void(std::string_view)> log;  // one line for the operator when a zygote is lost; may be empty
};

// Zygotes start with the first capture that needs them. A capture ends exactly once: with the worker's
// result; `worker_lost` after two zygotes died with it; `not_attempted` if no zygote started for it. Start then
// refuses (kUnavailable, quoting the worker), except for one new attempt per `backoff_limit`.
//
// A measurement (CaptureJob::measure_json) runs alone: after the other captures of this runner, and while no other
// process on this machine captures or measures, if all use one `lock_file`.
//
// Owner: the wiring. Thread: any one, which must outlive the runner, because bwrap dies with the thread that
// started it. The destructor stops all zygotes and reaps them.
std::unique_ptr<CaptureRunner> MakeZygoteRunner(ZygoteOptions options, const Clock& clock);

// Runs the worker with `--describe`, without importing torch; at most 60 s and 64 KiB.
// Error: kUnavailable, quoting what the worker wrote.
Result<Toolchain> DescribeToolchain(const ZygoteOptions& options, const std::string& name);

}  // namespace breakwatch::capture
