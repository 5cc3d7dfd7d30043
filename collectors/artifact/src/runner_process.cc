#include "breakwatch/artifact/runner_process.h"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "breakwatch/capture/launcher.h"
#include "breakwatch/capture/run_process.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"

namespace breakwatch::artifact {
namespace {

namespace fs = std::filesystem;
using capture::ProcessOutput;
using std::chrono::milliseconds;
using Words = std::vector<std::string>;

constexpr std::size_t kMostOutputBytes = 8u << 20, kDetailBytes = 400, kListBytes = 256u << 10;
constexpr int kJsonDepth = 16;
constexpr milliseconds kListTimeout{10'000};
constexpr milliseconds kGrace{10'000};  // the runner's own limit comes first: it can still say what it was doing
constexpr std::int64_t kLeastScratchBytes = 256LL << 20;
constexpr int kSignalBase = 128;  // bubblewrap exits with 128 + the signal

Error Unavailable(const std::string& what) { return {ErrorCode::kUnavailable, what}; }

// The libraries of a program, as the dynamic loader finds them; it prints "name => path (address)" instead of running.
Result<Words> LibrariesOf(const std::string& program) {
  const auto listed = capture::RunProcess({program}, {"LD_TRACE_LOADED_OBJECTS=1"}, kListTimeout, kListBytes);
  if (!listed) return listed.error();
  Words paths;
  std::string_view rest = listed->out;
  while (!rest.empty()) {
    const std::string_view line = FirstLine(rest);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t start = line.find('/');
    if (start == std::string_view::npos) continue;
    paths.emplace_back(line.substr(start, line.find(" (", start) - start));
  }
  if (paths.empty())
    return Unavailable(program + ": the dynamic loader lists no libraries: is it built for this machine?");
  return paths;
}

// The folders of libtorch's libraries are shown whole, because it loads more of them later.
Words Readable(const Words& libraries, const std::string& program, const std::string& folder) {
  Words readable = {program, folder, "/etc/ld.so.cache", "/sys/devices/system"};
  for (const std::string& library : libraries) {
    const fs::path parent = fs::path(library).parent_path();
    readable.push_back(parent);
    if (library.find("ld-linux") != std::string::npos || library.find("/ld-") != std::string::npos) {
      readable.back() = library;  // the loader itself, by the path that is in the program
    }
  }
  return readable;
}

std::int64_t BytesIn(const std::string& folder) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    const auto size = entry.file_size(ignored);
    bytes += ignored ? 0 : static_cast<std::int64_t>(size);
  }
  return bytes;
}

// A new folder for temporary files; removed with its content.
class Scratch {
 public:
  explicit Scratch(const std::string& parent) {
    std::error_code error;
    const fs::path in = parent.empty() ? fs::temp_directory_path(error) : fs::path(parent);
    path_ = in / "breakwatch-check-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<capture::LauncherChoice> LauncherFor(const RunnerOptions& options, const std::string& folder) {
  if (!options.sandbox) return capture::LauncherChoice{};
  const auto libraries = LibrariesOf(options.program);
  if (!libraries) return libraries.error();
  capture::SandboxOptions sandbox;
  sandbox.readable = Readable(*libraries, options.program, folder);
  sandbox.system_files = false;
  sandbox.confine = options.confine;
  // Half of it is the folder that the package is unpacked to.
  sandbox.scratch_bytes = kLeastScratchBytes + 4 * BytesIn(folder);
  capture::LauncherChoice choice = capture::DefaultLauncher(sandbox);
  if (choice.used == capture::kNoSandbox) return Unavailable("packages are run in a sandbox only: " + choice.why);
  return choice;
}

RunnerReport WithoutAnswer(const ProcessOutput& output, milliseconds timeout) {
  const auto report = [](const std::string& status, const std::string& detail) {
    return RunnerReport{status, detail, "{}", ""};
  };
  if (output.timed_out)
    return report("timeout", "breakwatch-runner did not end within " + std::to_string(timeout.count() / 1000) + " s");
  if (output.too_long) return report("failed_check", "breakwatch-runner printed more than 8 MiB");
  capture::ProcessEnd end = output.end;
  if (!end.signalled && end.value > kSignalBase && end.value < kSignalBase + NSIG)
    end = {true, end.value - kSignalBase};
  std::string last;  // the last line that is not empty
  for (std::string_view rest = output.err; !rest.empty();) {
    const std::string_view line = FirstLine(rest);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (!Trim(line).empty()) last = ShortLine(line, kDetailBytes);
  }
  return report("crashed", "breakwatch-runner " + end.Text() + (last.empty() ? "" : ": " + last));
}

RunnerReport ReadAnswer(const ProcessOutput& output, milliseconds timeout) {
  const std::string_view text = FirstLine(output.out);
  if (output.timed_out || output.too_long || !CheckJson(text, kMostOutputBytes, kJsonDepth))
    return WithoutAnswer(output, timeout);
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  if (!answer.is_object() || !answer.contains("status") || !answer["status"].is_string())
    return WithoutAnswer(output, timeout);
  const std::string detail = answer.contains("detail") && answer["detail"].is_string() ? answer["detail"] : "";
  return {answer["status"], ShortLine(detail, kDetailBytes), std::string(text), ""};
}

}  // namespace

Result<RunnerReport> RunRunner(const RunnerOptions& options, const std::string& command, const std::string& folder,
                               const std::vector<std::string>& more) {
  if (access(options.program.c_str(), X_OK) != 0) {
    return Unavailable("no program " + options.program + ": " + std::strerror(errno) +
                       "; `breakwatch setup` and, in a source tree, `make build` make it");
  }
  std::error_code error;
  const std::string real_folder = fs::canonical(folder, error);
  if (error) return Error{ErrorCode::kNotFound, folder + ": " + error.message()};
  RunnerOptions real = options;
  real.program = fs::canonical(options.program, error);
  const auto launcher = LauncherFor(real, real_folder);
  if (!launcher) return launcher.error();
  const Scratch scratch(options.scratch);
  if (scratch.path().empty()) return Error{ErrorCode::kStore, "no folder for temporary files in " + options.scratch};
  Words argv = launcher->argv;
  argv.insert(argv.end(), {real.program, command, real_folder, "--json"});
  if (command != "inspect") {
    argv.insert(argv.end(), {"--threads", std::to_string(options.threads), "--limit-mb",
                             std::to_string(options.memory_bytes >> 20)});
  }
  if (command == "check") argv.insert(argv.end(), {"--limit-s", std::to_string(options.timeout.count() / 1000)});
  argv.insert(argv.end(), more.begin(), more.end());
  const auto output =
      capture::RunProcess(argv, {"TMPDIR=" + scratch.path()}, options.timeout + kGrace, kMostOutputBytes);
  if (!output) return output.error();
  RunnerReport report = ReadAnswer(*output, options.timeout);
  report.sandbox = launcher->used;
  return report;
}

}  // namespace breakwatch::artifact
