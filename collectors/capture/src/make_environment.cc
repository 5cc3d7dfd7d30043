#include "breakwatch/capture/make_environment.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "breakwatch/capture/launcher.h"
#include "breakwatch/capture/run_process.h"
#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/package.h"
#include "breakwatch/core/text.h"
#include "environment_plan.h"
#include "machine_lock.h"
#include "pip_steps.h"
#include "pip_words.h"

namespace breakwatch::capture {
namespace {

namespace fs = std::filesystem;
using Progress = EnvironmentProgress;

constexpr std::chrono::seconds kFreezeTimeout{60};
constexpr std::chrono::hours kPipTimeout{12};
constexpr std::chrono::minutes kImportTimeout{10};  // from a cold disk
constexpr std::size_t kFreezeBytes = 1u << 20, kMostLogBytes = 64u << 20, kLongestLine = 400;
// One run of the work: the folders of the new environment and what is known about it.
class Maker {
 public:
  Maker(const EnvironmentRecipe& recipe, const EnvironmentFollow& follow, EnvironmentPlan plan, std::string version)
      : recipe_(recipe), follow_(follow), plan_(std::move(plan)), version_(std::move(version)) {}
  ~Maker() { RemoveAll(Temporary()); }

  Result<void> Make(const std::string& lock) {
    RemoveAll(plan_.folder);
    if (auto made = MakeFolder(Temporary()); !made) return made;
    log_.open(Log(), std::ios::trunc);
    if (!log_) return DiskError(Log(), errno);
    Say({.step = Progress::Step::kCreate});
    if (auto ran = RunLogged({recipe_.python, "-m", "venv", plan_.folder}); !ran) return ran;
    const PipPlan pip = PipPlanOf(recipe_, lock, plan_.folder);
    const std::string kept = pip.rest_of_lock.empty() ? lock : pip.rest_of_lock;
    if (auto wrote = WriteWhole(plan_.folder + "/lock.txt", kept); !wrote) return wrote;
    for (const auto& step : pip.steps) {
      if (auto ran = RunPip(step); !ran) return ran;
    }
    return {};
  }

  // What breakwatch adds: its worker, its runner, and a path to libtorch that does not depend on Python's release.
  Result<void> Add() {
    const std::string site = SitePackages(plan_.folder, version_);
    if (auto wrote = WriteWhole(site + "/breakwatch_worker.pth", recipe_.worker + "\n"); !wrote) return wrote;
    if (recipe_.torch.empty()) return {};
    auto frozen =
        RunProgram({Python(), "-m", "pip", "--disable-pip-version-check", "freeze"}, kFreezeTimeout, kFreezeBytes);
    return frozen ? WriteWhole(plan_.folder + "/lock.txt", *frozen) : frozen.error();
  }

  // That it works at all.
  Result<void> Check() {
    Say({.step = Progress::Step::kCheck});
    std::string last;
    const Follow follow{[&](std::string_view line) { last = ShortLine(line, kLongestLine); }, {}, follow_.stop_fd};
    const auto end =
        FollowProcess({Python(), "-c", "import torch, transformers"}, Environment(), kImportTimeout, follow);
    if (!end) return end.error();
    if (!end->signalled && end->value == 0) return {};
    return Error{ErrorCode::kInvalid, "the new environment cannot import torch and transformers: " +
                                          (last.empty() ? end->Text() : last) + "; it is in " + plan_.folder};
  }

  // Marks it as complete, and lets the link lead to it.
  Result<void> Publish() {
    if (const int fd = open(plan_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); fd >= 0) {
      syncfs(fd);
      close(fd);
    }
    if (auto wrote = WriteWhole(plan_.folder + kMarker, plan_.key + "\n"); !wrote) return wrote;
    std::error_code error;
    const fs::path target = recipe_.target, fresh = recipe_.target + "-" + plan_.key + ".link";
    const fs::path before = fs::canonical(target, error);                                // empty: none
    if (fs::is_directory(fs::symlink_status(target, error))) RemoveAll(recipe_.target);  // made before there were links
    fs::remove(fresh, error);
    fs::create_directory_symlink(fs::path(plan_.folder).filename(), fresh, error);
    if (!error) fs::rename(fresh, target, error);
    if (error) return DiskError(recipe_.target, error.value());
    if (!recipe_.keep_replaced) RemoveReplaced(before);
    fs::remove(Log(), error);
    return {};
  }

 private:
  std::string Temporary() const { return plan_.folder + ".tmp"; }
  std::string Log() const { return plan_.folder + ".log"; }
  std::string Python() const { return plan_.folder + "/bin/python"; }

  void Say(const Progress& progress) const {
    if (follow_.on_progress) follow_.on_progress(progress);
  }

  // Temporary files are as large as torch's packed file, more than many systems' /tmp has.
  std::vector<std::string> Environment() const {
    auto environment = OwnEnvironment({"TMPDIR", "PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"});
    environment.push_back("TMPDIR=" + Temporary());
    return environment;
  }

  void Keep(std::string_view line) {
    if (log_.tellp() < static_cast<std::streamoff>(kMostLogBytes)) log_ << line << '\n';
  }

  Result<void> RunLogged(const std::vector<std::string>& argv) {
    PipWords words;
    const Follow follow{[&](std::string_view line) { words.Read(line), Keep(line); }, {}, follow_.stop_fd};
    return Ended(FollowProcess(argv, Environment(), kPipTimeout, follow), words);
  }

  Result<void> RunPip(const std::vector<std::string>& step) {
    std::vector<std::string> argv = {
        Python(), "-m", "pip", "--disable-pip-version-check", "--no-input", "install", "--progress-bar", "off"};
    argv.insert(argv.end(), step.begin(), step.end());
    PipWords words;
    const Follow follow{[&](std::string_view line) { words.Read(line), Keep(line); }, [&] { Say(ProgressOf(words)); },
                        follow_.stop_fd};
    return Ended(FollowProcess(argv, Environment(), kPipTimeout, follow), words);
  }

  Result<void> Ended(const Result<ProcessEnd>& end, const PipWords& words) {
    if (!end) return end.error();
    if (!end->signalled && end->value == 0) return {};
    log_.flush();
    Error error = words.Failure();
    error.message += "; the output of pip is in " + Log();
    return error;
  }

  Progress ProgressOf(const PipWords& words) const {
    if (words.installs()) {
      return {
          .step = Progress::Step::kInstall, .done = Installed(), .total = std::max(plan_.packages, words.collected())};
    }
    Progress progress{.step = Progress::Step::kFetch, .done = words.collected(), .total = plan_.packages};
    progress.package = words.package();
    progress.of_bytes = words.file_bytes();
    if (progress.of_bytes > 0) progress.bytes = std::min(BytesBelow(Temporary()), progress.of_bytes);
    return progress;
  }

  std::size_t Installed() const {
    std::size_t count = 0;
    std::error_code error;
    for (fs::directory_iterator at(SitePackages(plan_.folder, version_), error), end; !error && at != end;
         at.increment(error))
      count += at->path().extension() == ".dist-info" ? 1u : 0u;
    return count;
  }

  // Only what was made here: an environment beside the new one, with a marker.
  void RemoveReplaced(const fs::path& before) const {
    std::error_code ignored;
    const fs::path now = fs::weakly_canonical(recipe_.target, ignored);
    if (!before.empty() && before != now && before.parent_path() == now.parent_path() &&
        fs::exists(before.string() + kMarker, ignored))
      RemoveAll(before.string());
  }

  const EnvironmentRecipe& recipe_;
  const EnvironmentFollow& follow_;
  const EnvironmentPlan plan_;
  const std::string version_;
  std::ofstream log_;
};

bool SameContent(const std::string& a, const std::string& b) {
  const auto first = Sha256OfFile(a), second = Sha256OfFile(b);
  return first.ok() && second.ok() && *first == *second;
}

// breakwatch-runner finds libtorch by its own path: ../lib/libtorch. Also after an upgrade of breakwatch alone.
Result<void> AddRunner(const EnvironmentRecipe& recipe, const std::string& version) {
  if (recipe.runner.empty()) return {};
  std::error_code error;
  const fs::path folder = fs::canonical(recipe.target, error);
  const fs::path link = folder / "lib/libtorch", runner = folder / "bin/breakwatch-runner";
  fs::remove(link, error);
  fs::create_directory_symlink("python" + version + "/site-packages/torch/lib", link, error);
  if (error) return DiskError(link.string(), error.value());
  if (SameContent(recipe.runner, runner.string())) return {};
  const fs::path fresh = runner.string() + ".new";
  fs::copy_file(recipe.runner, fresh, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(fresh, runner, error);
  if (error) return DiskError(runner.string(), error.value());
  return {};
}

// The versions of a complete environment, from the names of its packages' folders.
std::string VersionIn(const std::string& site, const std::string& package) {
  std::error_code error;
  for (fs::directory_iterator at(site, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(package + "-") && name.ends_with(".dist-info"))
      return name.substr(package.size() + 1, name.size() - package.size() - 11);
  }
  return {};
}

// Everything between the lock and the description.
Result<void> MakeAndCheck(const EnvironmentRecipe& recipe, const EnvironmentFollow& follow, const EnvironmentPlan& plan,
                          const std::string& version) {
  const auto lock = ReadLock(recipe);
  if (!lock) return lock.error();
  Maker maker(recipe, follow, plan, version);
  if (!plan.is_made) {
    if (auto enough = CheckSpace(recipe, plan); !enough) return enough;
    if (auto made = maker.Make(*lock); !made) return made;
    if (auto added = maker.Add(); !added) return added;
    if (auto checked = maker.Check(); !checked) return checked;
  }
  return maker.Publish();
}

}  // namespace

Result<MadeEnvironment> MakeEnvironment(const EnvironmentRecipe& recipe, const EnvironmentFollow& follow) {
  umask(022);  // an environment that root makes is for every user
  const auto version = VersionOf(recipe.python);
  if (!version) return version.error();
  if (auto made = MakeFolder(fs::path(recipe.target).parent_path().string()); !made) return made.error();
  MachineLock lock(recipe.target + "-setup.lock");
  const auto locked = lock.Take(/*exclusive=*/true);
  if (!locked) return locked.error();
  if (!*locked) return Error{ErrorCode::kInternal, "another `breakwatch setup` makes " + recipe.target};
  const auto plan = PlanEnvironment(recipe);
  if (!plan) return plan.error();
  if (!plan->is_complete) {
    if (auto made = MakeAndCheck(recipe, follow, *plan, *version); !made) return made.error();
  }
  if (auto added = AddRunner(recipe, *version); !added) return added.error();
  const std::string site = SitePackages(recipe.target, *version);
  return MadeEnvironment{recipe.target + "/bin/python", VersionIn(site, "torch"), VersionIn(site, "transformers"),
                         *version, !plan->is_complete};
}

}  // namespace breakwatch::capture
