// The reason of a break, from its message and the traceback printed below it. The worker reads the exceptions
// themselves by the same rules.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/core/capture.h"

namespace breakwatch::trace {

inline constexpr std::string_view kTraceback = "Traceback (most recent call last):\n";

// Sets the reason and the id. Returns the text that they come from. `outer`: the type of the wrapping exception, if
// any.
std::string_view TakeReason(std::string_view message, std::string_view traceback, BreakSite& site, std::string& outer);
// The same for older releases, which have no types: the reason is the message without its variable parts.
std::string_view TakeOldReason(std::string_view message, std::string_view traceback, BreakSite& site);

}  // namespace breakwatch::trace
