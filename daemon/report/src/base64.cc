#include "base64.h"

#include <algorithm>

#include "breakwatch/core/text.h"

namespace breakwatch::report {

std::string Base64(std::string_view bytes) {
  std::string text = Base64Url(bytes);
  std::replace(text.begin(), text.end(), '-', '+');
  std::replace(text.begin(), text.end(), '_', '/');
  return text + std::string((4 - text.size() % 4) % 4, '=');
}

std::string Sha256Base64(std::string_view text) {
  const std::string hex = Sha256Hex(text);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return Base64(bytes);
}

}  // namespace breakwatch::report
