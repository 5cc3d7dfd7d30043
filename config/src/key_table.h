// Builds the table that keys.h serves.
#pragma once

#include <vector>

#include "breakwatch/config/keys.h"

namespace breakwatch::config {

std::vector<Key> MakeKeyTable();

}  // namespace breakwatch::config
