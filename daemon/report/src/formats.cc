#include "formats.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace breakwatch::report {
namespace {

std::string GithubWhole(const Document& document) {
  const GithubOutput output = Github(document, kGithubSummaryBytes);
  return output.annotations + output.summary;
}

// Null: rendered from the report itself, see SweepInText and ComparisonInText.
using RenderDocument = std::string (*)(const Document&);

struct Entry {
  ReportFormat format;
  RenderDocument render;
};

constexpr char kPlain[] = "text/plain; charset=utf-8", kJsonType[] = "application/json";

const Entry kEntries[] = {
    {{Format::kText, "text", kPlain}, nullptr},
    {{Format::kMarkdown, "md", "text/markdown; charset=utf-8"}, [](const Document& d) { return Markdown(d); }},
    {{Format::kHtml, "html", "text/html; charset=utf-8"}, [](const Document& d) { return Html(d); }},
    {{Format::kCsv, "csv", "text/csv; charset=utf-8"}, nullptr},
    {{Format::kJson, "json", kJsonType}, nullptr},
    {{Format::kJunit, "junit", "application/xml"}, JUnit},
    {{Format::kSarif, "sarif", "application/sarif+json"}, Sarif},
    {{Format::kWarningsNg, "warnings-ng", kJsonType}, WarningsNg},
    {{Format::kGithub, "github", kPlain}, GithubWhole},
    {{Format::kMail, "mail", "message/rfc822"}, Mail},
};

const Entry& EntryOf(Format format) {
  return *std::find_if(std::begin(kEntries), std::end(kEntries),
                       [&](const Entry& entry) { return entry.format.format == format; });
}

}  // namespace

std::span<const ReportFormat> ReportFormats() {
  static const std::vector<ReportFormat> formats = [] {
    std::vector<ReportFormat> all;
    for (const Entry& entry : kEntries) all.push_back(entry.format);
    return all;
  }();
  return formats;
}

std::optional<Format> ParseReportFormat(std::string_view name) {
  for (const ReportFormat& format : ReportFormats()) {
    if (format.name == name) return format.format;
  }
  return std::nullopt;
}

std::string ReportFormatNames() {
  std::string names;
  for (const ReportFormat& format : ReportFormats()) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

std::string RenderSweep(const SweepReport& report, Format format, Style style) {
  const RenderDocument render = EntryOf(format).render;
  return render == nullptr ? SweepInText(report, format, style) : render(DocumentOf(report));
}

bool ShowsComparisonAlone(Format format) { return EntryOf(format).render == nullptr || format == Format::kMarkdown; }

std::string RenderComparison(const ComparisonReport& report, Format format, Style style) {
  const RenderDocument render = EntryOf(format).render;
  return render == nullptr ? ComparisonInText(report, format, style) : render(DocumentOf(report));
}

GithubOutput ForGithub(const SweepReport& report, std::size_t summary_bytes) {
  return Github(DocumentOf(report), summary_bytes);
}

GithubOutput ForGithub(const ComparisonReport& report, std::size_t summary_bytes) {
  return Github(DocumentOf(report), summary_bytes);
}

}  // namespace breakwatch::report
