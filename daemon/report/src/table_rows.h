// The rows of a table as text for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "breakwatch/report/table.h"

namespace breakwatch::report {

// The columns with a title.
std::vector<std::size_t> VisibleColumns(const Table& table);
// One line, as OneLine makes it.
std::string Shown(const Table& table, const std::vector<Cell>& row, std::size_t column);

// The two lines above the rows of a Markdown table, and one row; with line ends.
std::string MarkdownHead(const Table& table);
std::string MarkdownRow(const Table& table, const std::vector<Cell>& row);

}  // namespace breakwatch::report
