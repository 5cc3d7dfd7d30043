// Long texts for people: paths made short, lines broken at blanks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/report/table.h"

namespace breakwatch::report {

// Absolute paths as they are known to who reads them: of a package from the package on
// ("/env/lib/python3.11/site-packages/torch/nn/x.py" is "torch/nn/x.py"), a file below `style.directory` from there,
// one below `style.home` with "~". Others stay.
std::string ShortPaths(std::string_view text, const Style& style);

// The words of `text` in lines of at most `columns`; a longer word has a line of its own. At least one line.
std::vector<std::string> Wrapped(std::string_view text, std::size_t columns);

}  // namespace breakwatch::report
