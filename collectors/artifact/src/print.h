// What the commands print: one JSON object, or lines for people.
#pragma once

#include <string>

#include "bench.h"
#include "check.h"

namespace breakwatch::artifact {

std::string AsJson(const Bench& bench);
std::string AsText(const Bench& bench);
std::string AsJson(const Check& check);
std::string AsText(const Check& check);
std::string AsJson(const Inspection& inspection);
std::string AsText(const Inspection& inspection);

}  // namespace breakwatch::artifact
