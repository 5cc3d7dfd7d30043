#include "breakwatch/report/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/printable.h"
#include "breakwatch/core/status.h"
#include "escape.h"
#include "table_json.h"
#include "table_rows.h"

namespace breakwatch::report {
namespace {

std::string Fixed(double value, int decimals) {
  if (!std::isfinite(value)) return {};
  char text[400];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

// The text output; `decimals` applies to fractions.
struct PlainText {
  int decimals;
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return Fixed(value, decimals); }
  std::string operator()(const std::string& value) const { return value; }
};

// The CSV output: missing and non-finite values are empty.
struct CsvText {
  std::string operator()(std::monostate) const { return {}; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return std::isfinite(value) ? nlohmann::json(value).dump() : ""; }
  std::string operator()(const std::string& value) const { return CsvField(value); }
};

struct JsonValue {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(double value) const { return std::isfinite(value) ? Json(value) : Json(nullptr); }
  template <class T>
  Json operator()(const T& value) const {
    return value;
  }
};

std::string_view ColorOf(std::string_view status_name) {
  const auto status = ParseStatus(status_name);
  if (!status) return {};
  if (*status == Status::kFullGraph) return "\x1b[32m";
  if (*status == Status::kGraphBreaks) return "\x1b[33m";
  return IsSkipped(*status) ? "\x1b[2m" : "\x1b[31m";
}

std::string Colored(const std::string& padded, std::string_view color) {
  return color.empty() ? padded : std::string(color) + padded + "\x1b[0m";
}

// Narrows the widest columns that may shrink, one character at a time, until the row fits.
void Shrink(std::vector<std::size_t>& widths, const std::vector<bool>& gives, std::size_t excess) {
  constexpr std::size_t kLeast = 12;
  for (; excess > 0; --excess) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      if (gives[i] && widths[i] > kLeast && (widest == widths.size() || widths[i] >= widths[widest])) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

// The width of each visible column: its longest text, limited by the column's maximum and the terminal.
std::vector<std::size_t> Widths(const Table& table, const std::vector<std::size_t>& visible, std::size_t terminal) {
  std::vector<std::size_t> widths;
  std::vector<bool> gives;
  std::size_t sum = 0;
  for (const std::size_t column : visible) {
    std::size_t width = DisplayWidth(table.columns[column].title);
    for (const auto& row : table.rows) width = std::max(width, DisplayWidth(Shown(table, row, column)));
    const std::size_t widest = table.columns[column].widest;
    gives.push_back(widest != 0 || column == visible.back());
    widths.push_back(widest == 0 ? width : std::min(width, widest));
    sum += widths.back() + 2;
  }
  if (terminal != 0 && sum > terminal + 2) Shrink(widths, gives, sum - 2 - terminal);
  return widths;
}

std::string RightTrimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Wraps `text` to lines of at most `columns`, at spaces if possible.
std::vector<std::string> Folded(const std::string& text, std::size_t columns) {
  std::vector<std::string> lines(1);
  std::size_t width = 0;
  for (std::size_t i = 0, size = 1; i < text.size(); i += size) {
    for (size = 1; i + size < text.size() && (static_cast<unsigned char>(text[i + size]) & 0xC0) == 0x80;) ++size;
    const std::string character = text.substr(i, size);
    const std::size_t wide = DisplayWidth(character);
    if (width + wide > columns && !lines.back().empty()) {
      const std::size_t blank = lines.back().rfind(' ');
      const bool whole_words = character != " " && blank != std::string::npos && blank > 0;
      std::string rest = whole_words ? lines.back().substr(blank + 1) : "";
      if (whole_words) lines.back().resize(blank);
      width = DisplayWidth(rest);
      lines.push_back(std::move(rest));
    }
    if (lines.back().empty() && character == " " && lines.size() > 1) continue;
    lines.back() += character;
    width += wide;
  }
  return lines;
}

// Prints each row as lines "TITLE  value", for terminals that are too narrow for columns. Skips empty values.
std::string RecordsOf(const Table& table, const std::vector<std::size_t>& visible, Style style) {
  constexpr std::size_t kLeastValue = 12;
  std::size_t titles = 0;
  for (const std::size_t column : visible) titles = std::max(titles, DisplayWidth(table.columns[column].title));
  // Values go beside their titles if they fit, otherwise below.
  const bool beside = titles + 2 + kLeastValue <= style.width;
  const std::size_t indent = beside ? titles + 2 : std::min<std::size_t>(2, style.width / 4);
  const std::size_t columns = std::max<std::size_t>(1, style.width - std::min(style.width, indent));
  std::string out;
  for (const auto& row : table.rows) {
    if (!out.empty()) out += "\n";
    for (const std::size_t column : visible) {
      const std::string text = Shown(table, row, column);
      if (text.empty()) continue;
      const std::string& title = table.columns[column].title;
      out += beside ? Pad(title, indent, false) : RightTrimmed(Fit(title, style.width)) + std::string(indent, ' ');
      const std::string_view color = style.color && table.columns[column].name == "status" ? ColorOf(text) : "";
      bool first = true;
      for (const std::string& line : Folded(text, columns)) {
        out += (first ? "" : std::string(indent, ' ')) + Colored(line, color) + "\n";
        first = false;
      }
    }
  }
  return out;
}

std::string TextOf(const Table& table, Style style) {
  std::string out = table.title.empty() ? "" : Colored(table.title, style.color ? "\x1b[1m" : "") + "\n";
  if (table.rows.empty()) return out + table.when_empty + "\n";
  const auto visible = VisibleColumns(table);
  const auto widths = Widths(table, visible, style.width);
  const std::size_t sum = std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1));
  if (style.width != 0 && sum > style.width) return out + RecordsOf(table, visible, style);
  std::string line;
  for (std::size_t i = 0; i < visible.size(); ++i) {
    const Column& column = table.columns[visible[i]];
    line += (i == 0 ? "" : "  ") + Pad(column.title, widths[i], column.right);
  }
  out += RightTrimmed(line);
  for (const auto& row : table.rows) {
    line.clear();
    for (std::size_t i = 0; i < visible.size(); ++i) {
      const Column& column = table.columns[visible[i]];
      const std::string whole = Shown(table, row, visible[i]);
      const std::string text = column.keep_end ? FitEnd(whole, widths[i]) : whole;
      const bool colored = style.color && column.name == "status";
      line += (i == 0 ? "" : "  ") + Colored(Pad(text, widths[i], column.right), colored ? ColorOf(text) : "");
    }
    out += RightTrimmed(line);
  }
  return out;
}

std::string MarkdownOf(const Table& table) {
  std::string out = table.title.empty() ? "" : "## " + MarkdownText(table.title) + "\n\n";
  if (table.rows.empty()) return out + MarkdownText(table.when_empty) + "\n";
  out += MarkdownHead(table);
  for (const auto& row : table.rows) out += MarkdownRow(table, row);
  return out;
}

std::string CsvOf(const Table& table) {
  std::string out;
  for (std::size_t i = 0; i < table.columns.size(); ++i) out += (i == 0 ? "" : ",") + CsvField(table.columns[i].name);
  out += "\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += (i == 0 ? "" : ",") + std::visit(CsvText{}, row[i]);
    out += "\n";
  }
  return out;
}

}  // namespace

std::vector<std::size_t> VisibleColumns(const Table& table) {
  std::vector<std::size_t> visible;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].title.empty()) visible.push_back(i);
  }
  return visible;
}

std::string Shown(const Table& table, const std::vector<Cell>& row, std::size_t column) {
  return OneLine(std::visit(PlainText{table.columns[column].decimals}, row[column]));
}

std::string MarkdownHead(const Table& table) {
  std::string titles = "|", rule = "|";
  for (const std::size_t column : VisibleColumns(table)) {
    titles += " " + MarkdownText(table.columns[column].title) + " |";
    rule += table.columns[column].right ? " ---: |" : " --- |";
  }
  return titles + "\n" + rule + "\n";
}

std::string MarkdownRow(const Table& table, const std::vector<Cell>& row) {
  std::string line = "|";
  for (const std::size_t column : VisibleColumns(table)) line += " " + MarkdownText(Shown(table, row, column)) + " |";
  return line + "\n";
}

Json RowsAsJson(const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i].name] = std::visit(JsonValue{}, row[i]);
    rows.push_back(std::move(object));
  }
  return rows;
}

std::string Dump(const Json& json) { return Printable(JsonDocument(json, 2)); }

std::optional<Format> ParseFormat(std::string_view name) {
  constexpr std::pair<std::string_view, Format> kNames[] = {
      {"text", Format::kText}, {"json", Format::kJson}, {"md", Format::kMarkdown}, {"csv", Format::kCsv}};
  for (const auto& [known, format] : kNames) {
    if (known == name) return format;
  }
  return std::nullopt;
}

std::string Render(const Table& table, Format format, Style style) {
  switch (format) {
    case Format::kJson:
      return Dump(RowsAsJson(table));
    case Format::kMarkdown:
      return MarkdownOf(table);
    case Format::kCsv:
      return CsvOf(table);
    default:
      return TextOf(table, style);
  }
}

}  // namespace breakwatch::report
