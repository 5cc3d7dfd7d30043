// Table: rows for people and programs, rendered as text, JSON, Markdown or CSV.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace breakwatch::report {

using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;  // monostate: absent

struct Column {
  std::string name;        // field of JSON objects and CSV header: snake_case, stable
  std::string title;       // heading for people; empty: only programs get this column
  bool right = false;      // aligned right
  std::size_t widest = 0;  // columns of a terminal; longer text ends in "…"; 0: any
  int decimals = 1;        // of fractions, for people
  bool keep_end = false;   // longer text is cut at its beginning: the end of a place is its file and line
};

struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;  // as many cells as columns
  std::string when_empty = "nothing";   // printed for people if there are no rows
};

// The first four render tables and documents, the others whole reports only: see formats.h.
enum class Format { kText, kJson, kMarkdown, kCsv, kHtml, kJunit, kSarif, kWarningsNg, kGithub, kMail };
std::optional<Format> ParseFormat(std::string_view name);  // of a table: "text", "json", "md", "csv"

struct Style {
  bool color = false;               // only for a terminal
  std::size_t width = 0;            // columns of the terminal; 0: unbounded
  bool whole_stacks = false;        // of a model's break sites, with the source lines
  std::string directory{}, home{};  // working and home directory of the reader: paths are shown relative to these
};

// Text: aligned columns under a heading; if the terminal is too narrow, a line per value. JSON: an array of
// objects, absent cells null. Markdown: a pipe table, pipes, line ends, "<" and backticks escaped. CSV: RFC 4180 with
// "\n", a header row first; an apostrophe precedes text that a spreadsheet would read as a formula. Always
// ends with a line end; invalid UTF-8 is replaced. Other formats: text.
std::string Render(const Table& table, Format format, Style style = {});

}  // namespace breakwatch::report
