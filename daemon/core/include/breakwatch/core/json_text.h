// JSON values as text.
//
// Bytes that are not UTF-8 become U+FFFD: it never throws for its content. Templates, because core has no
// third-party headers: `Json` is nlohmann::json or nlohmann::ordered_json.
#pragma once

#include <string>

namespace breakwatch {

// On one line, without a line end.
template <class Json>
std::string JsonText(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// For people: a line for each member, `indent` blanks deeper at each level, and a line end.
template <class Json>
std::string JsonDocument(const Json& value, int indent) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace breakwatch
