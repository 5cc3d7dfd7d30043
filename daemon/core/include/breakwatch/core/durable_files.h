// Files that survive a crash: complete, or not there. Every failure is an Error that names the path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch {

// kStore: "cannot write <path>: <cause>", and what to do if the disk is full. `error`: an errno.
Error DiskError(const std::string& path, int error);

Result<void> MakeFolder(const std::string& path);
// Replaces the file by a rename. Its content is on the disk when this returns.
Result<void> WriteWhole(const std::string& path, std::string_view text);
// Writes everything below `from` to the disk and renames it to `to`, which it replaces if it exists.
Result<void> MoveIntoPlace(const std::string& from, const std::string& to);
// The same of a file.
Result<void> MoveFileIntoPlace(const std::string& from, const std::string& to);
void RemoveAll(const std::string& path);
// Of all files below; 0 if it does not exist.
std::int64_t BytesBelow(const std::string& path);
// True if the text is about a full disk or quota, as programs report it.
bool IsAboutSpace(std::string_view text);

}  // namespace breakwatch
