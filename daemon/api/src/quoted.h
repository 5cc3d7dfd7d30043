// Quotes untrusted text for messages.
#pragma once

#include <cstddef>
#include <string>

#include "breakwatch/core/text.h"

namespace breakwatch::api {

inline std::string Quoted(const std::string& text) {
  constexpr std::size_t kShownBytes = 80;
  return "\"" + Truncate(ToUtf8(text), kShownBytes) + "\"";
}

}  // namespace breakwatch::api
