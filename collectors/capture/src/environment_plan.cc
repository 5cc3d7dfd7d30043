#include "environment_plan.h"

#include <sys/statvfs.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "breakwatch/capture/run_process.h"
#include "breakwatch/core/text.h"
#include "pip_steps.h"

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kAnswerTimeout{60};
constexpr std::size_t kAnswerBytes = 64u << 10, kKeyDigits = 12;
// An environment of the default lock file takes 6 GiB, and its packed files, which are fetched first, 3.5 GiB. Of an
// index that is not the usual one nothing is known; a build without libraries for GPUs takes 1.5 and 0.4 GiB.
constexpr std::uint64_t kUsualBytes = 10ULL << 30, kIndexBytes = 3ULL << 30;

std::string FirstLineOf(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The nearest folder above that exists.
std::uint64_t FreeBytes(fs::path path) {
  std::error_code ignored;
  path = fs::absolute(path, ignored);
  while (!fs::exists(path, ignored) && path != path.parent_path()) path = path.parent_path();
  struct statvfs info {};
  if (statvfs(path.c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_frsize);
}

std::string GiB(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / static_cast<double>(1LL << 30));
  return text;
}

// A folder that is no environment is somebody's data, and must not be replaced.
Result<void> CheckTarget(const std::string& target) {
  std::error_code ignored;
  const auto status = fs::symlink_status(target, ignored);
  const bool is_free = !fs::exists(status) || fs::is_symlink(status);
  if (is_free || fs::exists(target + "/pyvenv.cfg", ignored)) return {};
  return Error{ErrorCode::kUsage, target + " exists and is not a Python environment; choose another path by --dir"};
}

}  // namespace

Result<std::string> ReadLock(const EnvironmentRecipe& recipe) {
  if (!recipe.torch.empty()) return std::string();
  std::ostringstream text;
  if (std::ifstream file(recipe.lock, std::ios::binary); !(text << file.rdbuf()))
    return Error{ErrorCode::kNotFound, "cannot read the lock file " + recipe.lock};
  return text.str();
}

Result<std::string> VersionOf(const std::string& python) {
  static const std::string kAsk = "import sys; print('%d.%d' % sys.version_info[:2]); import ensurepip, venv";
  const auto answer = RunProcess({python, "-I", "-c", kAsk}, OwnEnvironment(), kAnswerTimeout, kAnswerBytes);
  if (!answer) return Error{ErrorCode::kUsage, answer.error().message + "; install python3, or choose one by --python"};
  const std::string version(FirstLine(answer->out));
  if (!version.starts_with("3.")) return Error{ErrorCode::kUsage, python + " is not Python 3; choose one by --python"};
  if (answer->end.signalled || answer->end.value != 0) {
    return Error{ErrorCode::kUsage, python +
                                        " cannot make environments: its modules venv and ensurepip are missing; "
                                        "install them (on Debian: apt-get install python3-venv)"};
  }
  return version;
}

std::string SitePackages(const std::string& folder, const std::string& version) {
  return folder + "/lib/python" + version + "/site-packages";
}

Result<void> CheckSpace(const EnvironmentRecipe& recipe, const EnvironmentPlan& plan) {
  if (plan.free_bytes >= plan.needed_bytes) return {};
  return Error{ErrorCode::kStore,
               "not enough space for a toolchain: " + GiB(plan.needed_bytes) + " are needed below " +
                   fs::path(recipe.target).parent_path().string() + ", " + GiB(plan.free_bytes) +
                   " are free; free some space, choose another folder by --dir, an index with builds for CPUs only "
                   "by --torch-index, or, where less is enough, another limit by --min-free"};
}

Result<EnvironmentPlan> PlanEnvironment(const EnvironmentRecipe& recipe) {
  if (auto replaceable = CheckTarget(recipe.target); !replaceable) return replaceable.error();
  const auto lock = ReadLock(recipe);
  if (!lock) return lock.error();
  const auto version = VersionOf(recipe.python);
  if (!version) return version.error();
  EnvironmentPlan plan;
  plan.key = Sha256Hex(KeyText(recipe, *lock)).substr(0, kKeyDigits);
  plan.folder = recipe.target + "-" + plan.key;
  // Python's release is not in the key: an upgrade of the system changes it behind the same path.
  const auto is_made = [&](const std::string& folder) {
    std::error_code ignored;
    return FirstLineOf(folder + kMarker) == plan.key && fs::exists(SitePackages(folder, *version), ignored);
  };
  std::error_code ignored;
  plan.is_complete = is_made(recipe.target);
  plan.is_made = plan.is_complete || is_made(plan.folder);
  plan.was_interrupted = !plan.is_made && fs::exists(plan.folder, ignored);
  plan.packages = RequirementsIn(*lock).size();
  plan.needed_bytes = recipe.min_free_bytes.value_or(recipe.torch_index.empty() ? kUsualBytes : kIndexBytes);
  plan.free_bytes = FreeBytes(recipe.target);
  return plan;
}

}  // namespace breakwatch::capture
