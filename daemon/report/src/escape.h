// Escapes text from models, the Hub and compilers for its output format.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace breakwatch::report {

// One line without control characters, which a terminal would execute, and without invalid UTF-8.
std::string OneLine(std::string_view text);
// OneLine, with the markup of Markdown and HTML escaped, including every "|".
std::string MarkdownText(std::string_view text);
// A field of RFC 4180, quoted if needed. An apostrophe precedes a text that a spreadsheet would execute.
std::string CsvField(std::string_view text);

// The number of terminal columns for valid UTF-8: zero for combining marks, two for wide East Asian characters and
// emoji.
std::size_t DisplayWidth(std::string_view utf8);
// At most `columns` wide. A truncated text ends in "…".
std::string Fit(std::string_view utf8, std::size_t columns);
// Like Fit, but truncates the beginning.
std::string FitEnd(std::string_view utf8, std::size_t columns);
// Fit, then spaces up to `columns`.
std::string Pad(std::string_view utf8, std::size_t columns, bool right);

}  // namespace breakwatch::report
