#include "repro_keep.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/make_plan.h"
#include "remote_history.h"
#include "signals.h"

namespace breakwatch::commands {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytes = 80;
constexpr mode_t kOwnerOnly = 0700;

// A model's id as a folder's name.
std::string NameOf(const std::string& model) {
  std::string name;
  for (const char c : model.substr(0, kNameBytes)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    name += plain ? std::string(1, c) : c == '/' ? "--" : "_";
  }
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

Result<std::string> NewFolder(const App& app, const std::string& model) {
  std::error_code error;
  const fs::path parent = fs::absolute(app.settings().state_dir, error) / "repro";
  fs::create_directories(parent, error);
  const std::string stem = parent / (NameOf(model) + "-" + CompactTime(app.clock->Now()));
  for (int number = 1; number <= 100; ++number) {
    const std::string folder = number == 1 ? stem : stem + "-" + std::to_string(number);
    if (mkdir(folder.c_str(), kOwnerOnly) == 0) return folder;
    if (errno != EEXIST) break;
  }
  return Error{ErrorCode::kStore, "cannot create " + stem + ": " + std::strerror(errno)};
}

// For a shell.
std::string Word(const std::string& text) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("/._-+:=@", c) != nullptr; };
  if (std::all_of(text.begin(), text.end(), plain)) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The job of the result's plan, as a capture of the main mode.
Result<CaptureJob> JobOf(App& app, const ModelResult& result) {
  auto store = OpenHistory(app);
  if (!store) return store.error();
  auto plan = (*store)->LoadPlan(result.sweep_id);
  if (!plan) return plan.error();
  const auto planned = std::find_if(plan->models.begin(), plan->models.end(), [&](const PlannedModel& each) {
    return each.info.id == result.info.id && each.mode == result.capture.mode;
  });
  if (planned == plan->models.end() || planned->config_json.empty())
    return Error{ErrorCode::kInvalid, result.info.id + " cannot be captured: " + result.capture.detail};
  CaptureJob job = engine::JobOf(*planned, app.settings().capture.limits);
  job.id = "by-hand";
  job.mode = kMainMode;
  job.repro_json.clear();
  return job;
}

}  // namespace

Result<KeptFolder> KeepCapture(App& app, const ModelResult& result, const std::string& script, bool trace) {
  auto job = JobOf(app, result);
  if (!job) return job.error();
  const auto settings = app.with_toolchain(app.settings(), {.name = result.capture.toolchain.name});
  if (!settings) return settings.error();
  auto folder = NewFolder(app, result.info.id);
  if (!folder) return folder.error();
  if (auto written = script.empty() ? Result<void>() : WriteFile(*folder + "/repro.py", script); !written)
    return written.error();
  const ExitOnSignals at_once;
  auto found = app.keep_capture(*settings, {.job = *std::move(job), .folder = *folder, .trace = trace});
  if (!found) return found.error().Within("files are in " + *folder);
  return KeptFolder{.folder = *folder,
                    .command = "sh " + Word(*folder + "/repeat.sh"),
                    .found = *std::move(found),
                    .trace = trace ? *folder + "/trace" : ""};
}

std::string TextOf(const KeptFolder& kept, bool has_script) {
  std::string text = kept.folder + "\n";
  const auto line = [&](const char* name, const std::string& what) {
    text += "  " + std::string(name) + std::string(14 - std::string(name).size(), ' ') + what + "\n";
  };
  if (has_script) line("repro.py", "the file for a bug report");
  line("result.json", "what the capture found: " + kept.found);
  line("scratch/", "what the model's code wrote");
  line("worker.log", "what the worker wrote");
  if (!kept.trace.empty()) line("trace/", "a TORCH_TRACE directory, for tlparse and `breakwatch import`");
  return text + "Repeat the capture, in the same sandbox:\n  " + kept.command + "\n";
}

}  // namespace breakwatch::commands
