// Checks names of models and revisions before they are used in a path or a URL.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::hub {

// "name" or "organisation/name" of letters, digits, "-", "_" and "."; no part is "." or "..".
bool IsModelId(std::string_view id);
// A branch, tag, commit or "refs/pr/1": safe as a path below refs/.
bool IsRevision(std::string_view revision);

struct NamedModel {
  std::string id;
  std::string revision;  // empty: the default branch
};
// Parses "id" or "id@revision"; nullopt if it is neither.
std::optional<NamedModel> ParseNamedModel(std::string_view text);

}  // namespace breakwatch::hub
