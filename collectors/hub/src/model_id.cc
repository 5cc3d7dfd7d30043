#include "model_id.h"

#include <algorithm>
#include <cctype>

namespace breakwatch::hub {
namespace {

bool IsPart(std::string_view part) {
  const auto is_name_char = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  return !part.empty() && part != "." && part != ".." && std::all_of(part.begin(), part.end(), is_name_char);
}

bool ArePartsOf(std::string_view text, std::size_t max_parts) {
  for (std::size_t parts = 1;; ++parts) {
    const std::size_t slash = text.find('/');
    if (parts > max_parts || !IsPart(text.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    text.remove_prefix(slash + 1);
  }
}

}  // namespace

bool IsModelId(std::string_view id) {
  constexpr std::size_t kMaxBytes = 200;
  return id.size() <= kMaxBytes && ArePartsOf(id, 2);
}

bool IsRevision(std::string_view revision) {
  constexpr std::size_t kMaxBytes = 200;
  constexpr std::size_t kMaxParts = 8;
  return revision.size() <= kMaxBytes && ArePartsOf(revision, kMaxParts);
}

std::optional<NamedModel> ParseNamedModel(std::string_view text) {
  const std::size_t at = text.find('@');
  NamedModel named{std::string(text.substr(0, at)), ""};
  if (!IsModelId(named.id)) return std::nullopt;
  if (at == std::string_view::npos) return named;
  named.revision = std::string(text.substr(at + 1));
  if (!IsRevision(named.revision)) return std::nullopt;
  return named;
}

}  // namespace breakwatch::hub
