// ParseBreak: turns the text that Dynamo logs at a graph break into a break site. The worker parses the exception
// itself by the same rules. So a capture and a trace of the same code give the same sites.
#pragma once

#include <optional>
#include <string_view>

#include "breakwatch/core/capture.h"
#include "place.h"

namespace breakwatch::trace {

// Parses one event: occurrences is 1, compile_id and module_path are empty. Returns nullopt if the artifact is not a
// break but the report of a frame that Dynamo skipped.
// `files` names the user's files over all breaks of a process.
std::optional<BreakSite> ParseBreak(std::string_view payload, std::string_view torch_root, UserFiles& files);

// --- older releases, which log fewer breaks and without types

// The messages logged for a branch on a value. In an inlined callee, a second message follows for the same branch.
inline constexpr std::string_view kOldJump = "Data-dependent jump", kOldInlined = "should_compile_partial_graph=False";

struct Unlogged {
  std::string_view path;  // of the innermost user frame
  std::int64_t line = 0;
  std::string_view function{};    // empty: not known
  std::string_view wrapped_in{};  // what Dynamo did with the frame: "frame skipped"
};

// Makes a break site for a break of which the trace has only the exception's message.
BreakSite UnloggedBreak(std::string_view message, const Unlogged& place, std::string_view torch_root, UserFiles& files);
// True for a message in the format of older releases.
bool IsOldText(std::string_view message);
// True if a payload is in the older format; true if it also has this reason.
bool IsOldLog(std::string_view payload);
bool IsOldLog(std::string_view payload, std::string_view reason);

}  // namespace breakwatch::trace
