#include "report_output.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "breakwatch/core/filter_subject.h"

namespace breakwatch::commands {
namespace {

std::string StepSummary() {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  return path == nullptr ? "" : path;
}

// What other commands of the step have left of GitHub's limit.
std::size_t SummaryBytesLeft(const std::string& path) {
  std::error_code none;
  const std::uintmax_t used = path.empty() ? 0 : std::filesystem::file_size(path, none);
  if (none) return report::kGithubSummaryBytes;
  return used < report::kGithubSummaryBytes ? report::kGithubSummaryBytes - static_cast<std::size_t>(used) : 0;
}

Result<void> Append(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << text << std::flush;
  if (file) return {};
  return Error{ErrorCode::kStore, "cannot write $GITHUB_STEP_SUMMARY, " + path + ": " + std::strerror(errno)};
}

template <class Report>
int WriteGithub(const App& app, const std::string& path, const Report& report) {
  const std::string summary = path.empty() ? StepSummary() : "";
  const report::GithubOutput output = report::ForGithub(report, SummaryBytesLeft(summary));
  Print(app, output.annotations);
  if (summary.empty()) return Write(app, path, output.summary);
  const auto written = Append(summary, output.summary);
  return written ? kExitOk : Fail(app, written.error());
}

}  // namespace

Result<report::Format> ReportFormatOf(const App& app, const std::string& name) {
  if (const auto format = report::ParseReportFormat(app.json ? "json" : name)) return *format;
  return Error{ErrorCode::kUsage, "--format: unknown format \"" + name + "\"; known: " + report::ReportFormatNames()};
}

int WriteReport(const App& app, const std::string& path, report::Format format, const report::SweepReport& report) {
  if (format == report::Format::kGithub) return WriteGithub(app, path, report);
  return Write(app, path, report::RenderSweep(report, format, StyleOf(app)));
}

int WriteReport(const App& app, const std::string& path, report::Format format,
                const report::ComparisonReport& report) {
  if (format == report::Format::kGithub) return WriteGithub(app, path, report);
  return Write(app, path, report::RenderComparison(report, format, StyleOf(app)));
}

report::EachResult EachOf(const App& app, store::SweepStore& store, const std::string& sweep_id) {
  return [&app, &store, sweep_id](const report::UseResult& use) {
    return store.EachResult(sweep_id, [&](ModelResult result) {
      std::vector<ModelResult> one;
      one.push_back(std::move(result));
      NoteOwners(one, app.settings().models.rules.owners);
      return use(one.front());
    });
  };
}

int WriteStreamed(const App& app, const std::string& path, report::Format format, const report::StreamedSweep& sweep) {
  const auto write = [&](const TextSink& sink) { return report::StreamSweep(sweep, format, StyleOf(app), sink); };
  const bool to_file = !path.empty() && path != "-";
  const auto written =
      to_file ? WriteFile(path, write) : write([&app](std::string_view text) { Print(app, std::string(text)); });
  return written ? kExitOk : Fail(app, written.error());
}

}  // namespace breakwatch::commands
