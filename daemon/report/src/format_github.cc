// Workflow commands, which annotate a run and its files, and the step summary.
#include <algorithm>

#include "breakwatch/core/text.h"
#include "escape.h"
#include "formats.h"

namespace breakwatch::report {
namespace {

// GitHub shows ten of each kind in a step, and ignores the others.
constexpr std::size_t kMaxOfKind = 10;
constexpr std::size_t kMaxMessage = 2'000;

struct Annotation {
  std::string title, message;
  const BreakSite* site = nullptr;  // its place, if there is one
};

// The message of a command. In a property, colons and commas are escaped too.
std::string Escaped(const std::string& text, bool property) {
  std::string out;
  for (const char c : Truncate(ToUtf8(text), kMaxMessage)) {
    if (c == '%')
      out += "%25";
    else if (c == '\r')
      out += "%0D";
    else if (c == '\n')
      out += "%0A";
    else if (property && c == ':')
      out += "%3A";
    else if (property && c == ',')
      out += "%2C";
    else
      out += c;
  }
  return out;
}

std::string Command(const char* kind, const Annotation& annotation) {
  std::string properties;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) properties += (properties.empty() ? " " : ",") + std::string(name) + "=" + value;
  };
  if (const BreakSite* site = annotation.site; site != nullptr && !site->file.empty()) {
    add("file", Escaped(OneLine(site->file), true));
    if (site->line > 0) add("line", std::to_string(site->line));
  }
  add("title", Escaped(OneLine(annotation.title), true));
  return "::" + std::string(kind) + properties + "::" + Escaped(OneLine(annotation.message), false) + "\n";
}

std::string Commands(const char* kind, const std::vector<Annotation>& annotations) {
  const bool all = annotations.size() <= kMaxOfKind;
  const std::size_t shown = all ? annotations.size() : kMaxOfKind - 1;
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) out += Command(kind, annotations[i]);
  if (all) return out;
  const std::string rest = std::to_string(annotations.size() - shown) + " more";
  return out + Command(kind, {rest, rest + " of this kind: see the step summary", nullptr});
}

// The first new site of a model that fails the gate.
const BreakSite* CauseOf(const Document& document, const Case& c) {
  for (const Issue& issue : document.issues) {
    if (issue.severity == Severity::kError && issue.result == c.result) return issue.site;
  }
  return nullptr;
}

}  // namespace

GithubOutput Github(const Document& document, std::size_t summary_bytes) {
  std::vector<Annotation> errors, warnings, notices;
  for (const Case& c : document.cases) {
    if (c.outcome != Outcome::kFailed && c.outcome != Outcome::kError) continue;
    const bool fails = c.outcome == Outcome::kFailed && document.gate == GateState::kFailed;
    (fails ? errors : warnings)
        .push_back({ModelAndMode(c.model, c.mode) + ": " + c.type, c.message, CauseOf(document, c)});
  }
  for (const SiteGroup& group : GroupSites(document.issues)) {
    if (group.state == "absent" || group.severity == Severity::kError) continue;  // the model has an error above
    const std::string text = OccurrencesText(group) + ": " + group.site->source_line;
    auto& list = group.allowed_by.empty() ? warnings : notices;
    list.push_back({ReasonText(*group.site),
                    group.allowed_by.empty() ? text : text + "; allowed by " + group.allowed_by, group.site});
  }
  notices.insert(notices.begin(), {document.title, document.summary, nullptr});
  return {Commands("error", errors) + Commands("warning", warnings) + Commands("notice", notices),
          Markdown(document, summary_bytes)};
}

}  // namespace breakwatch::report
