// Renderings of settings for `config show`, `config check` and `config explain`. Secrets never appear.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/config/load.h"
#include "breakwatch/core/result.h"

namespace breakwatch::config {

std::string ShowText(const Loaded& loaded);  // a line a key: name, value, where it came from
// {"settings": [{"key","value","default","origin","type"}...], "files": [...], "warnings": [...]}
std::string ShowJson(const Loaded& loaded);
std::string CheckText(const Loaded& loaded);  // "ok: ..." with the files read, then the warnings

// Meaning, type, default, allowed values, environment variable and flag of one key, or of all below a prefix
// ("exporters.loki"; empty: all). Error: kUsage, unknown, with the nearest name.
Result<std::string> ExplainText(std::string_view key_or_prefix);
Result<std::string> ExplainJson(std::string_view key_or_prefix);

// A YAML file with every key that is not a secret, its meaning and its default.
std::string ExampleYaml();

}  // namespace breakwatch::config
