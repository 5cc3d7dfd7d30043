// JSON values that several documents have.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/text.h"

namespace breakwatch::api {

inline nlohmann::ordered_json TimeOrNull(SystemTime time) {
  return time == SystemTime{} ? nlohmann::ordered_json() : nlohmann::ordered_json(FormatTime(time));
}

template <class T>
nlohmann::ordered_json OrNull(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

// A document of another part; null if it is not JSON.
inline nlohmann::ordered_json Parsed(const std::string& text) {
  auto value = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() ? nlohmann::ordered_json() : value;
}

}  // namespace breakwatch::api
