#include "break_message.h"

#include <algorithm>
#include <array>
#include <vector>

#include "breakwatch/core/text.h"

namespace breakwatch::trace {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kReasonBytes = 120, kTextBytes = 2000, kMaxHints = 16;
constexpr std::string_view kBlanks = " \t\n\r\f\v";

// Each line stripped, the whole bounded.
std::string Clean(std::string_view text) {
  text = Trim(text);
  std::string out;
  while (out.size() <= kTextBytes) {
    const std::size_t end = text.find('\n');
    out += Trim(text.substr(0, end));
    if (end == kNone) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return Clip(out, kTextBytes);
}

struct Found {
  std::size_t at = kNone;   // offset of the line break before the blanks
  std::size_t end = kNone;  // offset after the label
};

// Finds the first `label` at or after `from` that begins a line. Blanks may precede it. At least `breaks` line breaks
// must precede those blanks.
Found FindLabel(std::string_view text, std::string_view label, std::size_t from, std::size_t breaks = 1) {
  for (std::size_t at = text.find(label, from); at != kNone; at = text.find(label, at + 1)) {
    std::size_t begin = at;
    std::size_t lines = 0, start = kNone;
    while (begin > from && kBlanks.find(text[begin - 1]) != kNone) {
      --begin;
      if (text[begin] != '\n') continue;
      ++lines;
      // Requires two line breaks in a row, followed only by blanks.
      if (breaks == 1 || (begin > from && text[begin - 1] == '\n')) start = breaks == 1 ? begin : begin - 1;
    }
    if (lines >= breaks && start != kNone) return {start, at + label.size()};
  }
  return {};
}

constexpr std::string_view kExplanation = "Explanation: ", kHint = "Hint: ", kContext = "Developer debug context: ";

// Where an explanation or a hint that begins at `from` ends.
std::size_t EndOfPart(std::string_view text, std::size_t from) {
  const Found hint = FindLabel(text, kHint, from), context = FindLabel(text, kContext, from, 2);
  return std::min({hint.at, context.at, text.size()});
}

// The first matching row gives the fixability. Rows go from "never works" to "caused by another break".
struct Fixability {
  std::string_view name, text;
};
constexpr std::array<Fixability, 7> kFixability = {{
    {"fundamental", "This graph break is fundamental - it is unlikely"},
    {"user_error", "Your code may result in an error when running in eager."},
    {"inference_mode", "Avoid using `tensor.is_inference()` and"},
    {"supportable", "It may be possible to write Dynamo tracing rules for this"},
    {"difficult", "This graph break may be difficult to debug."},
    {"dynamo_bug", "This is likely to be a Dynamo bug."},
    {"caused_by_earlier", "This graph break may have been caused by an earlier graph"},
}};

std::string FixabilityOf(const std::vector<std::string>& hints) {
  if (hints.empty()) return "none";
  for (const Fixability& kind : kFixability) {
    for (std::string hint : hints) {
      std::replace(hint.begin(), hint.end(), '\n', ' ');
      if (hint.find(kind.text) != std::string::npos) return std::string(kind.name);
    }
  }
  return "other";
}

}  // namespace

std::string_view Headline(std::string_view text) { return Trim(FirstLine(text)); }

std::string Clip(std::string_view text, std::size_t max) { return Truncate(ToUtf8(text.substr(0, max + 3)), max); }

std::string Bounded(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 4 * kReasonBytes)) {
    const bool blank = kBlanks.find(c) != kNone;
    if (blank && (out.empty() || out.back() == ' ')) continue;
    out += blank ? ' ' : c;
  }
  if (out.ends_with(' ')) out.pop_back();
  return Clip(out, kReasonBytes);
}

bool IsTyped(std::string_view message) { return FindLabel(message, kExplanation, 0).at != kNone; }

std::string IdOf(std::string_view message) {
  constexpr std::string_view kLink = "compile-graph-break-site/gb/gb";
  const std::size_t at = message.find(kLink);
  if (at == kNone) return {};
  std::string id = "GB";
  for (const char c : message.substr(at + kLink.size(), 8)) {
    if (c < '0' || c > '9') break;
    id += c;
  }
  return id.size() > 2 ? id : std::string();
}

void TakeTexts(std::string_view message, BreakSite& site) {
  const Found explanation = FindLabel(message, kExplanation, 0), context = FindLabel(message, kContext, 0);
  if (explanation.at == kNone && context.at == kNone) {
    site.explanation = Clean(message);
  }
  if (explanation.at != kNone) {
    site.explanation = Clean(message.substr(explanation.end, EndOfPart(message, explanation.end) - explanation.end));
  }
  if (context.at != kNone) {
    const std::size_t end = message.find("\n\n For more details about", context.end);
    site.context = Clean(message.substr(context.end, end == kNone ? kNone : end - context.end));
  }
  for (Found hint = FindLabel(message, kHint, 0); hint.at != kNone && site.hints.size() < kMaxHints;) {
    const std::size_t end = EndOfPart(message, hint.end);
    site.hints.push_back(Clean(message.substr(hint.end, end - hint.end)));
    hint = FindLabel(message, kHint, end);
  }
  site.fixability = FixabilityOf(site.hints);
}

}  // namespace breakwatch::trace
