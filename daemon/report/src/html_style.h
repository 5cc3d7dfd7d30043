// The style of a HTML report.
#pragma once

#include <string>

#include "document.h"

namespace breakwatch::report {

// Colours for light and dark screens and for paper. On a narrow screen a row becomes a block, a line for each cell,
// whose heading comes from here: rules that name the columns of each table.
std::string HtmlStyle(const Document& document);

}  // namespace breakwatch::report
