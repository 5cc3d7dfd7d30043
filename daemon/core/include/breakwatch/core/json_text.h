// A JSON value as one line of text.
//
// Bytes that are not UTF-8 become U+FFFD: it never throws for its content. A template, because core has no
// third-party headers: `Json` is nlohmann::json or nlohmann::ordered_json.
#pragma once

#include <string>

namespace breakwatch {

template <class Json>
std::string JsonText(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace breakwatch
