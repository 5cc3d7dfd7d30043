// Checks that involve several settings.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "breakwatch/config/settings.h"

namespace breakwatch::config {

struct Finding {
  std::string key;  // the key whose location is reported
  std::string text;
};

struct Findings {
  std::vector<Finding> problems, warnings;
};

// `from_environment`: this key's value came from the environment, where a URL may hold a password.
Findings CheckTogether(const Settings& settings, bool store_url_from_environment);

}  // namespace breakwatch::config
