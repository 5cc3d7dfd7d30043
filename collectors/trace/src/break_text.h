// ParseBreak: the text Dynamo logs at a graph break, as a break site. The same reading as the worker's, which has the
// exception itself: a capture and the trace of the same code give the same sites.
#pragma once

#include <optional>
#include <string_view>

#include "breakwatch/core/capture.h"
#include "place.h"

namespace breakwatch::trace {

// One event: occurrences is 1, compile_id and module_path are empty. nullopt for what bears the same artifact's name
// and is no break: the report of a frame that is left to Python.
// `files` names the user's own over all breaks of a process.
std::optional<BreakSite> ParseBreak(std::string_view payload, std::string_view torch_root, UserFiles& files);

}  // namespace breakwatch::trace
