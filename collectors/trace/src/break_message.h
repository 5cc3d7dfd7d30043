// The grammar of a message of Dynamo's: type, "  Explanation: ", "  Hint: " ..., "  Developer debug context: ", a link.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "breakwatch/core/capture.h"

namespace breakwatch::trace {

// The first line, without the white space around it.
std::string_view Headline(std::string_view text);
// At most `max` bytes of UTF-8.
std::string Clip(std::string_view text, std::size_t max);
// Words joined by single blanks, with a maximum length: a reason becomes a label.
std::string Bounded(std::string_view text);

// True for a message in the format of releases that give a break a type.
bool IsTyped(std::string_view message);
// "GB0059" from the link at the end of a message; empty where the type has no entry in Dynamo's registry.
std::string IdOf(std::string_view message);
// Sets explanation, context, hints and fixability. An untyped message is its own explanation.
void TakeTexts(std::string_view message, BreakSite& site);

}  // namespace breakwatch::trace
