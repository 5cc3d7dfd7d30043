#include "breakwatch/report/directory.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/sweep.h"
#include "document.h"
#include "formats.h"
#include "sweep_totals.h"
#include "table_json.h"
#include "write_files.h"

namespace breakwatch::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoModels = "[]}";  // the end of a plan without models

bool IsFileName(const std::string& id) {
  const bool plain =
      id.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == std::string::npos;
  return plain && !id.empty() && id.size() <= 128 && id[0] != '.';
}

Result<void> WriteWhole(const std::string& path, std::string_view text) {
  FileWriter file(path);
  file.Write(text);
  return file.Close();
}

// A plan of the whole Hub is hundreds of megabytes as a JSON value.
Result<void> WritePlan(const std::string& path, const StreamedPlan& plan) {
  const std::string head = ToJson(plan.head);
  const std::size_t place = head.rfind(kNoModels) + 1;
  FileWriter file(path);
  file.Write(std::string_view(head).substr(0, place));
  bool any = false;
  auto read = plan.each([&](const PlannedModel& planned) -> Result<void> {
    if (std::exchange(any, true)) file.Write(",");
    file.Write(ToJson(planned));
    return {};
  });
  if (!read) return read;
  file.Write(std::string_view(head).substr(place));
  file.Write("\n");
  return file.Close();
}

// What the other files need, with the report: of results that are compared with each other, the results themselves.
struct Read {
  Gathered gathered;
  std::vector<ModelResult> compared;
};

// Writes results.jsonl while they are read: a sweep of the whole Hub is very long.
Result<Read> WriteResults(const std::string& path, const Sweep& sweep, const EachResult& each) {
  Read read;
  const bool is_compared = !ComparesNoResults(sweep);
  FileWriter file(path);
  auto used = each([&](const ModelResult& result) -> Result<void> {
    file.Write(ToJson(result) + "\n");
    read.gathered.Add(result);
    if (is_compared) read.compared.push_back(result);
    return {};
  });
  if (!used) return used.error();
  if (auto closed = file.Close(); !closed) return closed.error();
  return read;
}

std::string ReportOf(const Sweep& sweep, Read read) {
  return ComparesNoResults(sweep) ? Markdown(DocumentOf({.sweep = sweep, .each = nullptr}, std::move(read.gathered)))
                                  : RenderSweep({.sweep = sweep, .results = read.compared}, Format::kMarkdown);
}

Result<void> WriteAll(const std::string& folder, const Sweep& sweep, const StreamedPlan& plan, const EachResult& each,
                      std::string_view environment_json) {
  if (auto written = WritePlan(folder + "/plan.json", plan); !written) return written;
  auto read = WriteResults(folder + "/results.jsonl", sweep, each);
  if (!read) return read.error();
  const SweepTotals& totals = read->gathered.totals;
  const std::string reasons = Render(totals.Reasons(ReasonOrder::kEvents, 0), Format::kCsv);
  const std::string failures = Render(totals.Failures(), Format::kCsv);
  const std::pair<const char*, std::string> files[] = {
      {"sweep.json", ToJson(sweep) + "\n"},
      {"reasons.csv", reasons},
      {"failures.csv", failures},
      {"report.md", ReportOf(sweep, *std::move(read))},
      {"environment.json", std::string(environment_json)},
  };
  for (const auto& [name, text] : files) {
    if (auto written = WriteWhole(folder + "/" + name, text); !written) return written;
  }
  return {};
}

}  // namespace

std::string EnvironmentJson(std::string_view version, const Toolchain& toolchain, std::string_view settings_json) {
  utsname system{};
  uname(&system);
  const auto pages = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES));
  Json json = {{"schema", 1},
               {"breakwatch", ToUtf8(version)},
               {"toolchain", Json::parse(ToJson(toolchain), nullptr, false)},
               {"system",
                {{"kernel", std::string(system.sysname) + " " + system.release},
                 {"machine", system.machine},
                 {"cores", static_cast<std::int64_t>(sysconf(_SC_NPROCESSORS_ONLN))},
                 {"memory_bytes", pages * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE))}}}};
  Json settings = Json::parse(settings_json, nullptr, false);
  if (!settings_json.empty() && !settings.is_discarded()) json["settings"] = std::move(settings);
  return Dump(json);
}

StreamedPlan StreamOf(Plan plan) {
  std::vector<PlannedModel> models = std::exchange(plan.models, {});
  const auto each = [models = std::move(models)](const auto& use) -> Result<void> {
    for (const PlannedModel& planned : models) {
      if (auto used = use(planned); !used) return used;
    }
    return {};
  };
  return {std::move(plan), each};
}

Result<std::string> WriteSweepDirectory(const std::string& state_dir, const Sweep& sweep, const StreamedPlan& plan,
                                        const EachResult& each, std::string_view environment_json) {
  if (!IsFileName(sweep.id))
    return Error{ErrorCode::kInvalid, "sweep id \"" + ToUtf8(sweep.id) + "\" is not a file name"};
  const std::string sweeps = state_dir + "/sweeps", final_path = sweeps + "/" + sweep.id;
  const std::string fresh = sweeps + "/." + sweep.id + "." + std::to_string(getpid());
  std::error_code error;
  fs::remove_all(fresh, error);
  fs::create_directories(fresh, error);
  if (error) return Error{ErrorCode::kStore, fresh + ": " + error.message()};
  auto written = WriteAll(fresh, sweep, plan, each, environment_json);
  if (written) written = ReplaceDirectory(fresh, final_path);
  if (!written) {
    fs::remove_all(fresh, error);
    return written.error();
  }
  return final_path;
}

Result<void> LinkLatest(const std::string& state_dir, const std::string& id) {
  return ReplaceLink("sweeps/" + id, state_dir + "/latest");
}

bool HasSweepDirectory(const std::string& state_dir, const std::string& id) {
  std::error_code none;
  return IsFileName(id) && fs::is_directory(state_dir + "/sweeps/" + id, none);
}

void RemoveUnfinishedDirectories(const std::string& state_dir) {
  std::error_code error;
  std::vector<fs::path> unfinished;
  for (fs::directory_iterator entry(state_dir + "/sweeps", error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with('.')) unfinished.push_back(entry->path());
  }
  for (const fs::path& path : unfinished) fs::remove_all(path, error);
}

namespace {

struct StoredDirectory {
  std::string id;
  std::size_t place = 0;  // among the sweeps that the store knows, or behind them
  SystemTime ended{};
};

// In the order of TrimSweepDirectories.
std::vector<StoredDirectory> StoredDirectories(const std::string& state_dir, std::span<const Sweep> newest) {
  std::vector<StoredDirectory> stored;
  std::error_code error;
  for (fs::directory_iterator entry(state_dir + "/sweeps", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.') || !entry->is_directory(error)) continue;
    const auto known = std::find_if(newest.begin(), newest.end(), [&](const Sweep& sweep) { return sweep.id == name; });
    const auto written = entry->last_write_time(error);
    stored.push_back({name, static_cast<std::size_t>(known - newest.begin()),
                      known == newest.end() ? std::chrono::file_clock::to_sys(written) : known->finished_at});
  }
  std::sort(stored.begin(), stored.end(), [](const StoredDirectory& a, const StoredDirectory& b) {
    return a.place != b.place ? a.place < b.place : a.id > b.id;
  });
  return stored;
}

std::int64_t BytesUnder(const std::string& path) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    if (const auto size = entry->file_size(error); !error) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

}  // namespace

void TrimSweepDirectories(const std::string& state_dir, const KeptDirectories& kept, std::span<const Sweep> newest) {
  std::error_code error;
  const std::string latest = fs::read_symlink(state_dir + "/latest", error).filename().string();
  const std::vector<StoredDirectory> stored = StoredDirectories(state_dir, newest);
  std::int64_t bytes = 0;
  bool is_full = false;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::string path = state_dir + "/sweeps/" + stored[i].id;
    const bool is_old = i >= kept.sweeps || (kept.since && stored[i].ended < *kept.since);
    const std::int64_t own = kept.bytes && !is_old && !is_full ? BytesUnder(path) : 0;
    is_full = is_full || (i > 0 && kept.bytes && bytes + own > *kept.bytes);
    bytes += own;
    if ((is_old || is_full) && i > 0 && stored[i].id != latest) fs::remove_all(path, error);
  }
}

}  // namespace breakwatch::report
