// The level and the name of a stored event, which are in its line alone.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch::exporters::otlp {

struct LineHead {
  std::string level, name;  // as in the line; empty if it has none
};

// Reads the line up to the second of them: both are at its start.
LineHead ReadLineHead(std::string_view line);

}  // namespace breakwatch::exporters::otlp
