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

// --- older releases, which log fewer breaks and without types

// What they log of a branch on a value, and, where that is in an inlined callee, then once more of the same branch.
inline constexpr std::string_view kOldJump = "Data-dependent jump", kOldInlined = "should_compile_partial_graph=False";

struct Unlogged {
  std::string_view path;  // of the innermost user frame
  std::int64_t line = 0;
  std::string_view function{};  // empty: not known
  std::string_view way{};       // what became of the frame: "frame skipped"
};

// A break of which the trace holds only the exception's message.
BreakSite UnloggedBreak(std::string_view message, const Unlogged& place, std::string_view torch_root, UserFiles& files);
// A message without the grammar of today's.
bool IsOldText(std::string_view message);
// Whether a payload is in the older form, and whether it is one of this reason.
bool IsOldLog(std::string_view payload);
bool IsOldLog(std::string_view payload, std::string_view reason);

}  // namespace breakwatch::trace
