// Text from models, the Hub and compilers, made harmless for where it is shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace breakwatch::report {

// One line without control characters (a terminal would obey them) and without invalid UTF-8.
std::string OneLine(std::string_view text);
// OneLine, with what Markdown and HTML would act on escaped; no "|" survives bare.
std::string MarkdownText(std::string_view text);
// A field of RFC 4180: quoted where needed; an apostrophe before what a spreadsheet would run.
std::string CsvField(std::string_view text);

// Columns a terminal needs for valid UTF-8: none for combining marks, two for wide East Asian characters and emoji.
std::size_t DisplayWidth(std::string_view utf8);
// At most `columns` wide, ending in "…" when something was left out.
std::string Fit(std::string_view utf8, std::size_t columns);
// The same from the end: what is left out was at the beginning.
std::string FitEnd(std::string_view utf8, std::size_t columns);
// Fit, then blanks up to `columns`.
std::string Pad(std::string_view utf8, std::size_t columns, bool right);

}  // namespace breakwatch::report
