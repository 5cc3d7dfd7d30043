// breakwatch-runner: checks and measures packages with libtorch, without Python.
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>

#include "about.h"
#include "own_tmpdir.h"
#include "print.h"

namespace {

using namespace breakwatch::artifact;  // NOLINT: the program is this room's
using breakwatch::Result;

constexpr int kBad = 1, kUsage = 64, kCannotWrite = 74;
constexpr int kMostThreads = 1024;
constexpr double kMostSeconds = 86'400;
constexpr std::int64_t kMostMebibytes = 1 << 24;

struct Arguments {
  std::string folder, package, inputs;
  bool json = false;
  int threads = 1;
  double limit_s = 0;
  std::int64_t limit_mb = 0;
  BenchOptions bench;
};

int Print(const std::string& text, bool good) {
  std::fputs(text.c_str(), stdout);
  if (std::fflush(stdout) != 0) return kCannotWrite;
  return good ? 0 : kBad;
}

// Ends the program with a result if it takes longer. Only functions that a signal handler may call.
void EndAfter(double seconds) {
  if (seconds <= 0) return;
  struct sigaction action {};
  action.sa_handler = [](int) {
    constexpr char kLate[] = "{\"status\":\"timeout\",\"detail\":\"not finished within its time limit\"}\n";
    if (write(STDOUT_FILENO, kLate, sizeof kLate - 1) < 0) _exit(kCannotWrite);
    _exit(kBad);
  };
  sigaction(SIGALRM, &action, nullptr);
  const auto whole = static_cast<time_t>(seconds);
  const itimerval timer{{}, {whole, static_cast<suseconds_t>((seconds - static_cast<double>(whole)) * 1e6)}};
  setitimer(ITIMER_REAL, &timer, nullptr);
}

// The result is there: it must not be followed by another.
void EndNoMore() {
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
}

// Memory that the package asks for beyond the limit is refused, and its operator fails.
void LimitMemory(std::int64_t mebibytes) {
  if (mebibytes <= 0) return;
  const auto bytes = static_cast<rlim_t>(mebibytes) << 20;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_DATA, &limit);
}

int RunCheck(const Arguments& arguments) {
  EndAfter(arguments.limit_s);
  LimitMemory(arguments.limit_mb);
  const Check check = CheckPackage(arguments.folder, arguments.threads);
  EndNoMore();
  return Print(arguments.json ? AsJson(check) : AsText(check), check.status == "ok");
}

int RunInspect(const Arguments& arguments) {
  const Inspection inspection = Inspect(arguments.folder);
  return Print(arguments.json ? AsJson(inspection) : AsText(inspection), inspection.check.status == "ok");
}

// The files to measure: those named, or those of a package that is verified first.
Result<BenchOptions> FilesOf(const Arguments& arguments) {
  BenchOptions options = arguments.bench;
  options.computing.threads = arguments.threads;
  if (arguments.folder.empty()) return options;
  const Inspection inspection = Inspect(arguments.folder);
  if (inspection.check.status != "ok")
    return breakwatch::Error{breakwatch::ErrorCode::kInvalid, inspection.check.detail};
  const std::filesystem::path folder = arguments.folder;
  options.package = folder / ModelFileOf(inspection.package->manifest);
  options.inputs = folder / kFirstCase.inputs;
  options.computing.flush_denormals = inspection.recorded.flush_denormals;
  return options;
}

int RunBench(const Arguments& arguments) {
  LimitMemory(arguments.limit_mb);
  const auto options = FilesOf(arguments);
  auto measured = options ? MeasurePackage(*options) : Result<Bench>(options.error());
  Bench bench;
  bench.threads = arguments.threads;
  bench.cell.status = "failed";
  if (measured) {
    bench = *std::move(measured);
  } else {
    bench.cell.detail = measured.error().message;
  }
  return Print(arguments.json ? AsJson(bench) : AsText(bench), bench.cell.status == "ok");
}

int RunVersion(bool json) {
  const About about = AskTorch();
  return Print(json ? AsJson(about) : AsText(about), about.Healthy());
}

void AddLimits(CLI::App* command, Arguments* arguments) {
  command->add_option("--limit-mb", arguments->limit_mb, "Memory that it may use, in MiB (default: no limit)")
      ->check(CLI::Range(std::int64_t{0}, kMostMebibytes));
  command->add_option("--threads", arguments->threads, "Threads of operators and of compiled code (default 1)")
      ->check(CLI::Range(1, kMostThreads));
}

CLI::App* AddCheck(CLI::App* program, Arguments* arguments) {
  CLI::App* command = program->add_subcommand("check", "Verify a package, run it and compare it with eager");
  command->add_option("DIR", arguments->folder, "Folder with manifest.json")->required();
  command->add_flag("--json", arguments->json, "Print one JSON object");
  AddLimits(command, arguments);
  command->add_option("--limit-s", arguments->limit_s, "Give up after so many seconds (default: never)")
      ->check(CLI::Range(0.0, kMostSeconds));
  command->footer("Example:\n  breakwatch-runner check packages/bert/aot_inductor --json");
  return command;
}

CLI::App* AddInspect(CLI::App* program, Arguments* arguments) {
  CLI::App* command = program->add_subcommand("inspect", "Verify a package without loading it");
  command->add_option("DIR", arguments->folder, "Folder with manifest.json")->required();
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->footer("Example:\n  breakwatch-runner inspect packages/bert/aot_inductor");
  return command;
}

CLI::App* AddBench(CLI::App* program, Arguments* arguments) {
  CLI::App* command = program->add_subcommand("bench", "Measure the latency of a package");
  auto* folder = command->add_option("DIR", arguments->folder, "Folder with manifest.json");
  auto* package = command->add_option("--package", arguments->bench.package, "Package (.pt2) or TorchScript (.pt)");
  auto* inputs = command->add_option("--inputs", arguments->bench.inputs, "Its inputs (.safetensors)");
  auto* flush = command->add_flag("--flush-denormals", arguments->bench.computing.flush_denormals,
                                  "With --package: flush denormal numbers to zero (a manifest says it for DIR)");
  folder->excludes(package)->excludes(inputs)->excludes(flush);
  package->needs(inputs);
  inputs->needs(package);
  command->add_flag("--json", arguments->json, "Print one JSON object");
  AddLimits(command, arguments);
  command->add_option("--min-runs", arguments->bench.min_runs, "At least so many runs (default 30)")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--min-s", arguments->bench.min_s, "For at least so many seconds (default 5)")
      ->check(CLI::Range(0.0, kMostSeconds));
  command->footer(
      "Examples:\n"
      "  breakwatch-runner bench packages/bert/aot_inductor --threads 4\n"
      "  breakwatch-runner bench --package model.pt2 --inputs inputs.safetensors --json");
  command->callback([folder, package] {
    if (folder->count() == 0 && package->count() == 0) throw CLI::RequiredError("DIR or --package with --inputs");
  });
  return command;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program{"Run packages of compiled models with libtorch, without Python.", "breakwatch-runner"};
  Arguments arguments;
  bool version = false, version_json = false;
  program.add_flag("--version", version, "Print the versions of this program and of libtorch");
  program.add_flag("--json", version_json, "With --version: print one JSON object");
  program.require_subcommand(0, 1);
  const CLI::App* check = AddCheck(&program, &arguments);
  const CLI::App* inspect = AddInspect(&program, &arguments);
  const CLI::App* bench = AddBench(&program, &arguments);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help
    std::fprintf(stderr, "breakwatch-runner: %s\nusage: see breakwatch-runner --help\n", error.what());
    return kUsage;
  }
  if (*check) return InOwnTmpdir([&] { return RunCheck(arguments); });
  if (*inspect) return RunInspect(arguments);
  if (*bench) return InOwnTmpdir([&] { return RunBench(arguments); });
  if (version) return RunVersion(version_json);
  std::fputs("usage: breakwatch-runner check|bench|inspect|--version; see breakwatch-runner --help\n", stderr);
  return kUsage;
}
