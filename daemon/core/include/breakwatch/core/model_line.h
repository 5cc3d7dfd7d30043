// Where in a model's own code a break happens, when it is inside a helper that many models call.
#pragma once

#include <string>

#include "breakwatch/core/capture.h"

namespace breakwatch {

// The innermost line of `site.stack` that is code of the model: of a package's folder of models, or the user's.
// "FILE:LINE in FUNCTION"; empty if the stack has none, or it is the site's own line.
std::string ModelLine(const BreakSite& site);

}  // namespace breakwatch
