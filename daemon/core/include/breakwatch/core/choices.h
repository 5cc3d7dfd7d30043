// Choices: settings and fields of requests that take one of a few names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace breakwatch {

// What a listing may be ranked by (ListRequest::sort).
std::span<const std::string_view> AllSorts();

// "a, b or c", for messages.
std::string OneOf(std::span<const std::string_view> names);

}  // namespace breakwatch
