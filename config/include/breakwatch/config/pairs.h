// The items of a list setting in two parts: headers "NAME: VALUE", labels "NAME=VALUE".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace breakwatch::config {

// Each item is split at its first separator, which it has: Load checked it.
inline std::vector<std::pair<std::string, std::string>> PairsOf(const std::vector<std::string>& items,
                                                                std::string_view separator) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& item : items) {
    const std::size_t at = item.find(separator);
    pairs.emplace_back(item.substr(0, at), item.substr(at + separator.size()));
  }
  return pairs;
}

}  // namespace breakwatch::config
