// Long texts: shortens paths and wraps lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/report/table.h"

namespace breakwatch::report {

// Shortens absolute paths. A path of a package begins at the package ("/env/lib/python3.11/site-packages/torch/nn/x.py"
// becomes "torch/nn/x.py"). A path below `style.directory` becomes relative. A path below `style.home` begins with "~".
// Other paths stay unchanged.
std::string ShortPaths(std::string_view text, const Style& style);

// Wraps `text` into lines of at most `columns`. A longer word gets its own line. Returns at least one line.
std::vector<std::string> Wrapped(std::string_view text, std::size_t columns);

}  // namespace breakwatch::report
