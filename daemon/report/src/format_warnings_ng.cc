// The native JSON of the Jenkins plugin Warnings Next Generation. It reads a fixed set of fields and fills in the rest.
#include "breakwatch/core/text.h"
#include "escape.h"
#include "formats.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxIssues = 25'000, kMaxText = 4'000;

std::string Line(const std::string& text) { return OneLine(Truncate(ToUtf8(text), kMaxText)); }

// The plugin shows messages and descriptions as HTML.
std::string HtmlText(const std::string& text) {
  std::string out;
  for (const char c : Line(text)) {
    out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return out;
}

std::string DescriptionOf(const BreakSite& site) {
  std::string text = site.source_line.empty() ? "" : "<p><code>" + HtmlText(site.source_line) + "</code></p>";
  if (!site.explanation.empty()) text += "<p>" + HtmlText(site.explanation) + "</p>";
  if (site.hints.empty()) return text;
  text += "<ul>";
  for (const std::string& hint : site.hints) text += "<li>" + HtmlText(hint) + "</li>";
  return text + "</ul>";
}

const char* SeverityOf(Severity severity) {
  return severity == Severity::kError ? "ERROR" : severity == Severity::kWarning ? "NORMAL" : "LOW";
}

Json IssueJson(const Issue& issue) {
  const BreakSite& site = *issue.site;
  std::string message = Counted(issue.events, "break") + ": " + ReasonText(site);
  if (!issue.allowed_by.empty()) message += "; allowed by " + issue.allowed_by;
  return {{"fileName", site.file.empty() ? "-" : Line(site.file)},
          {"lineStart", site.line},
          {"lineEnd", site.line},
          {"severity", SeverityOf(issue.severity)},
          {"category", issue.result == nullptr ? "" : std::string(FamilyName(issue.result->info.family))},
          {"type", Line(site.gb_id.empty() ? site.reason : site.gb_id)},
          {"packageName", Line(issue.model)},
          {"moduleName", Line(issue.mode)},
          {"message", HtmlText(message)},
          {"description", DescriptionOf(site)},
          // The plugin finds new and fixed issues by it.
          {"fingerprint", Line(site.site_id + "/" + issue.mode + "/" + issue.model)}};
}

Json CaseJson(const Case& c) {
  return {{"fileName", "-"},
          {"severity", c.outcome == Outcome::kFailed ? "ERROR" : "HIGH"},
          {"category", c.family},
          {"type", c.type},
          {"packageName", Line(c.model)},
          {"moduleName", Line(c.mode)},
          {"message", HtmlText(c.type + ": " + c.message)},
          {"fingerprint", Line(c.type + "/" + c.mode + "/" + c.model)}};
}

}  // namespace

std::string WarningsNg(const Document& document) {
  Json issues = Json::array();
  std::size_t left_out = 0;
  const auto add = [&](auto to_json, const auto& value) {
    if (issues.size() < kMaxIssues)
      issues.push_back(to_json(value));
    else
      ++left_out;
  };
  for (const Case& c : document.cases) {
    if (c.outcome == Outcome::kFailed || c.outcome == Outcome::kError) add(CaseJson, c);
  }
  for (const Issue& issue : document.issues) {
    if (issue.state != "absent") add(IssueJson, issue);
  }
  if (left_out > 0) {
    issues.push_back({{"fileName", "-"},
                      {"severity", "LOW"},
                      {"type", "left out"},
                      {"message", std::to_string(left_out) + " further issues are not in this file"},
                      {"fingerprint", "left out"}});
  }
  const std::size_t size = issues.size();
  return Dump({{"_class", "io.jenkins.plugins.analysis.core.restapi.ReportApi"},
               {"issues", std::move(issues)},
               {"size", size}});
}

}  // namespace breakwatch::report
