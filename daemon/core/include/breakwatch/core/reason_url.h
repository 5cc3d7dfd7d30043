// The page that explains a break reason: PyTorch's page for its id.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch {

// "GB0059" -> the page's URL; anything else, an empty text.
inline std::string ReasonUrl(std::string_view gb_id) {
  if (gb_id.size() < 3 || gb_id.substr(0, 2) != "GB") return {};
  const std::string_view digits = gb_id.substr(2);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb" + std::string(digits) + ".html";
}

}  // namespace breakwatch
