// Text that leaves the program for a terminal or a file that one may show.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch {

enum class Lines { kKeep, kEscape };

// Valid UTF-8 in which nothing is left that a terminal obeys: control characters (C0 but line ends and tabs, DEL, C1)
// and those that change the direction of writing are written as JSON escapes, "\u001b". So JSON stays the same JSON.
// `lines`: kEscape writes line ends and tabs as "\n" and "\t" too, for what has to stay one line.
std::string Printable(std::string_view text, Lines lines = Lines::kKeep);
// The same, but with the sequences by which our own tables are coloured.
std::string PrintableInColor(std::string_view text);

}  // namespace breakwatch
