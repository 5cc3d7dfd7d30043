// A message of RFC 5322 with a text and a HTML body. Lines end with "\n", as local mail programs expect.
#include <algorithm>
#include <ctime>

#include "base64.h"
#include "breakwatch/core/text.h"
#include "escape.h"
#include "formats.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxRows = 40, kMaxSubject = 200, kLine = 76, kTextWidth = 100;

std::string Lines(const std::string& base64) {
  std::string out;
  for (std::size_t i = 0; i < base64.size(); i += kLine) out += base64.substr(i, kLine) + "\n";
  return out;
}

// Encoded words of RFC 2047, each at most 75 characters, if the text needs them. The text is one line.
std::string HeaderText(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7F; });
  if (plain && text.size() <= 60 && text.find("=?") == std::string::npos) return text;
  constexpr std::size_t kBytesOfWord = 42;
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::string part = Truncate(text.substr(i), kBytesOfWord);
    out += (i == 0 ? "=?utf-8?b?" : "\n =?utf-8?b?") + Base64(part) + "?=";
    i += part.size();
  }
  return out;
}

// In the C locale, whatever the process has: "Mon, 23 Nov 2026 13:00:00 +0000".
std::string DateText(SystemTime time) {
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto days = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(days);
  const std::string stamp = FormatTime(time);
  return std::string(kDays[std::chrono::weekday(days).c_encoding()]) + ", " +
         std::to_string(static_cast<unsigned>(date.day())) + " " + kMonths[static_cast<unsigned>(date.month()) - 1] +
         " " + std::to_string(static_cast<int>(date.year())) + " " + stamp.substr(11, 8) + " +0000";
}

std::string SubjectOf(const Document& document) {
  const std::string text = document.gate == GateState::kNone ? document.summary : document.gate_summary;
  return Truncate(OneLine("breakwatch: " + text), kMaxSubject);
}

std::string TextBody(const Document& document) {
  std::string out = OneLine(document.title) + "\n\n" + OneLine(document.summary) + "\n";
  if (!document.gate_summary.empty()) {
    out += "\n";
    for (const std::string& line : document.gate_lines) out += OneLine(line) + "\n";
    out += OneLine(document.gate_summary) + "\n";
  }
  out += "\n";
  for (const auto& [name, value] : document.facts) out += OneLine(name + ": " + value) + "\n";
  for (const Section& section : document.sections) {
    Table table = section.table;
    if (table.rows.size() > kMaxRows) {
      table.title += ", " + std::to_string(kMaxRows) + " of " + std::to_string(table.rows.size());
      table.rows.resize(kMaxRows);
    }
    out += "\n" + Render(table, Format::kText, {.color = false, .width = kTextWidth});
  }
  for (const std::string& note : document.notes) out += "\n" + OneLine(note) + "\n";
  return out;
}

std::string Part(const std::string& boundary, const char* type, const std::string& body) {
  return "--" + boundary + "\nContent-Type: " + type + "; charset=utf-8\nContent-Transfer-Encoding: base64\n\n" +
         Lines(Base64(body)) + "\n";
}

}  // namespace

std::string Mail(const Document& document) {
  const std::string text = TextBody(document), html = Html(document, kMaxRows);
  const std::string boundary = "breakwatch-" + Sha256Hex(text + html).substr(0, 32);
  std::string out = "Subject: " + HeaderText(SubjectOf(document)) + "\n";
  if (document.made_at != SystemTime{}) out += "Date: " + DateText(document.made_at) + "\n";
  out += "MIME-Version: 1.0\nAuto-Submitted: auto-generated\nContent-Type: multipart/alternative;\n boundary=\"" +
         boundary + "\"\n\n";
  return out + Part(boundary, "text/plain", text) + Part(boundary, "text/html", html) + "--" + boundary + "--\n";
}

}  // namespace breakwatch::report
