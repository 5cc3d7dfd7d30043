// Text that leaves the program, for a terminal or a file.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch {

enum class Lines { kKeep, kEscape };

// Valid UTF-8 without control sequences of terminals: control characters (C0 but line ends and tabs, DEL, C1)
// and those that change the direction of writing are written as JSON escapes, "\u001b". So JSON stays the same JSON.
// `lines`: kEscape also writes line ends and tabs as "\n" and "\t", for text that must stay on one line.
std::string Printable(std::string_view text, Lines lines = Lines::kKeep);
// The same, but keeps the colour sequences of our own tables.
std::string PrintableInColor(std::string_view text);

}  // namespace breakwatch
