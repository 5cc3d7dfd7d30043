// A JSON text as simdjson's elements, which cost a twentieth of nlohmann's to make.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch {

// The elements are the parser's and end with it, or with its next text. Numbers of more than 64 bits are floating
// point. Of equal names in an object all are there. Error: kInvalid if the text is no JSON, larger, or nested deeper
// (a list or an object without content is no level).
Result<simdjson::dom::element> ParseJson(simdjson::dom::parser& parser, std::string_view text, std::size_t max_bytes,
                                         int max_depth);

// On one line, as JsonText writes it.
std::string JsonText(const simdjson::dom::element& element);

}  // namespace breakwatch
