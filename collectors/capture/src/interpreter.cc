#include "interpreter.h"

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "environment.h"
#include "process.h"

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kTimeout{20'000};
constexpr std::size_t kMaxBytes = 1u << 20;
constexpr int kMostLinks = 40;

// Prints the interpreter's own name first. Then its environments (only parts, if one is a home directory), its import
// paths, the targets of links in those, and the folders of its loaded libraries.
constexpr const char* kQuestion = R"(
import os, sys
print(sys.executable)
home = os.path.realpath(os.environ.get("HOME") or "/")
wide = lambda path: (home + "/").startswith(os.path.realpath(path).rstrip("/") + "/")
for prefix in {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}:
    for part in ("bin", "lib", "lib64", "include", "share", "pyvenv.cfg") if wide(prefix) else ("",):
        print(os.path.join(prefix, part))
for folder in sys.path:
    if not os.path.isabs(folder) or not os.path.exists(folder) or wide(folder):
        continue
    print(folder)
    if os.path.isdir(folder):
        for entry in os.scandir(folder):
            if entry.is_symlink() and not wide(entry.path):
                print(os.path.realpath(entry.path))
with open("/proc/self/maps") as maps:
    for line in maps:
        path = line.rstrip("\n").split(maxsplit=5)[5:]
        if path and path[0].startswith("/") and "x" in line.split()[1]:
            print(path[0])
)";

// Adds each link on the path of a program: venv/bin/python -> python3 -> /opt/python/bin/python3.11.
void AddLinks(fs::path program, std::vector<std::string>* files) {
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(program, error); ++i) {
    program = (program.parent_path() / fs::read_symlink(program, error)).lexically_normal();
    files->push_back(program);
  }
}

}  // namespace

std::optional<Interpreter> AskInterpreter(const std::string& program) {
  const std::string name = fs::path(program).filename();
  if (!name.starts_with("python") && !name.starts_with("pypy")) return std::nullopt;
  ZygoteOptions options;
  if (const char* home = std::getenv("HOME"); home != nullptr) options.environment["HOME"] = home;
  const auto output =
      RunProcess({program, "-I", "-B", "-c", kQuestion}, WorkerEnvironment(options, ""), kTimeout, kMaxBytes);
  if (!output.ok() || output->timed_out || output->too_long || output->end.signalled || output->end.value != 0)
    return std::nullopt;
  Interpreter interpreter;
  std::istringstream lines(output->out);
  std::getline(lines, interpreter.program);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) interpreter.files.push_back(line);
  }
  interpreter.files.push_back(interpreter.program);
  AddLinks(interpreter.program, &interpreter.files);
  return interpreter;
}

}  // namespace breakwatch::capture
