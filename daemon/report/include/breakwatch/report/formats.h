// The formats of whole reports, as data, and what a step of a GitHub workflow prints.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "breakwatch/report/compare.h"
#include "breakwatch/report/sweep.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

struct ReportFormat {
  Format format;
  std::string_view name;        // of --format
  std::string_view media_type;  // of HTTP
};
std::span<const ReportFormat> ReportFormats();
std::optional<Format> ParseReportFormat(std::string_view name);
std::string ReportFormatNames();  // "text, md, html, ..."

// The parts of kGithub, which is one after the other.
struct GithubOutput {
  std::string annotations;  // workflow commands, for standard output
  std::string summary;      // Markdown, for the file that $GITHUB_STEP_SUMMARY names
};
// `summary_bytes`: at most this much, but at least a heading.
GithubOutput ForGithub(const SweepReport& report, std::size_t summary_bytes);
GithubOutput ForGithub(const ComparisonReport& report, std::size_t summary_bytes);
// What GitHub accepts for all steps that write into one summary file.
inline constexpr std::size_t kGithubSummaryBytes = (1u << 20) - 4096;

}  // namespace breakwatch::report
