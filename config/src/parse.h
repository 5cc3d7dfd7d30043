// Converts a raw value to a field.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "breakwatch/config/keys.h"

namespace breakwatch::config {

// A value from a file, a variable or a flag.
struct Raw {
  enum class Kind { kNull, kPlain, kQuoted, kList, kMap } kind = Kind::kPlain;
  std::string text;                // of kPlain and kQuoted
  std::vector<std::string> items;  // of kList
};

// The expected and the actual value, `expected an integer, got "many"`; nullopt if the field was set. Never contains
// the value of a secret.
std::optional<std::string> SetField(const Key& key, const Raw& raw, Settings& settings);

// "1h30m", "500ms": numbers with units, at least one.
std::optional<milliseconds> ParseDuration(std::string_view text);
// "64KiB", "1024": a number and B, KiB, MiB, GiB, TiB or nothing.
std::optional<std::int64_t> ParseSize(std::string_view text);

}  // namespace breakwatch::config
