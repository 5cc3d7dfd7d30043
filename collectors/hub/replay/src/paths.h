// Names of folders and files inside a recording.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch::hub_replay {

// An id as a folder: "/" becomes "--".
std::string FolderName(std::string_view id);
// A relative path with forward slashes, without empty, "." or ".." parts and without NUL. It cannot leave its folder.
bool IsPlainPath(std::string_view path);
// A plain path of one or two parts.
bool IsModelId(std::string_view id);

}  // namespace breakwatch::hub_replay
