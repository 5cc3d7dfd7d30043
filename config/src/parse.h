// One raw value into one field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "breakwatch/config/keys.h"

namespace breakwatch::config {

// A value as a file, a variable or a flag gave it.
struct Raw {
  enum class Kind { kNull, kPlain, kQuoted, kList, kMap } kind = Kind::kPlain;
  std::string text;                // of kPlain and kQuoted
  std::vector<std::string> items;  // of kList
};

// What was expected and what was there, `expected an integer, got "many"`; nothing when the field was set.
// A secret's value is never quoted.
std::optional<std::string> SetField(const Key& key, const Raw& raw, Settings& settings);

// "1h30m", "500ms": numbers with units, at least one.
std::optional<milliseconds> ParseDuration(std::string_view text);
// "64KiB", "1024": a number and B, KiB, MiB, GiB, TiB or nothing.
std::optional<std::int64_t> ParseSize(std::string_view text);

}  // namespace breakwatch::config
