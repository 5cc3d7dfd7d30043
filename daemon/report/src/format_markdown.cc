// A summary for a pull request, with a bound on its bytes.
#include <algorithm>

#include "escape.h"
#include "formats.h"
#include "table_rows.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxCell = 200, kMaxLine = 2'000;
// For the heading and the end of a section.
constexpr std::size_t kFrameBytes = 400;

std::string Line(const std::string& text) { return Fit(MarkdownText(text), kMaxLine) + "\n"; }

// Cells that are shorter: one long text must not take the place of many rows.
std::vector<Cell> Shortened(std::vector<Cell> row) {
  for (Cell& cell : row) {
    if (auto* text = std::get_if<std::string>(&cell)) *text = Fit(OneLine(*text), kMaxCell);
  }
  return row;
}

std::string NotShown(std::size_t shown, std::size_t rows) {
  if (shown == rows) return {};
  return "\nNot shown: " + std::to_string(rows - shown) + " of " + std::to_string(rows) +
         " rows, because this summary has a limited length.\n";
}

// At most `budget` bytes, apart from the frame.
std::string SectionText(const Section& section, std::size_t budget) {
  const Table& table = section.table;
  const std::size_t rows = section.rows();
  std::string body = rows == 0 ? MarkdownText(table.when_empty) + "\n" : MarkdownHead(table);
  std::size_t shown = 0;
  for (; shown < rows; ++shown) {
    const std::string row = MarkdownRow(table, Shortened(section.Row(shown)));
    if (body.size() + row.size() > budget) break;
    body += row;
  }
  if (shown == 0 && rows > 0) body.clear();
  body += NotShown(shown, rows);
  const std::string title = MarkdownText(table.title);
  if (section.open || rows == 0) return "\n## " + title + "\n\n" + body;
  return "\n<details>\n<summary>" + title + " (" + std::to_string(section.count) + ")</summary>\n\n" + body +
         "\n</details>\n";
}

std::string Head(const Document& document) {
  std::string out = "# " + Line(document.title) + "\n" + Line(document.summary);
  if (!document.gate_summary.empty()) {
    out += "\n**" + MarkdownText(document.gate_summary) + "**\n";
    if (!document.gate_lines.empty()) out += "\n";
    for (const std::string& line : document.gate_lines) out += "- " + Line(line);
  }
  out += "\n";
  for (const auto& [name, value] : document.facts) out += "- " + Line(name + ": " + value);
  return out;
}

}  // namespace

std::string Markdown(const Document& document, std::size_t max_bytes) {
  std::string out = Head(document), notes;
  for (const std::string& note : document.notes) notes += "\n" + Line(note);
  if (out.size() > max_bytes) out = "# " + Line(document.title) + "\n" + Line(document.summary);
  std::size_t used = out.size() + notes.size() + document.sections.size() * kFrameBytes;
  for (std::size_t i = 0; i < document.sections.size(); ++i) {
    // Not all of the rest, so that one long table leaves room for the following ones.
    const std::size_t rest = max_bytes > used ? max_bytes - used : 0;
    const bool last = i + 1 == document.sections.size();
    const std::string text = SectionText(document.sections[i], last ? rest : rest / 2);
    if (out.size() + text.size() + notes.size() > max_bytes) continue;
    out += text;
    used += text.size() > kFrameBytes ? text.size() - kFrameBytes : 0;
  }
  return out + notes;
}

}  // namespace breakwatch::report
