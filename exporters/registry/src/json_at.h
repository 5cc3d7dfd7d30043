// Members of JSON objects that registries sent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "breakwatch/core/text.h"

namespace breakwatch::exporters {

// The text of a member; empty if there is none.
inline std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_string() ? ToUtf8(found->get<std::string>()) : "";
}

}  // namespace breakwatch::exporters
