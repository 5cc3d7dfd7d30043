// View: the files of this machine that a sandboxed worker can see, independent of the kind of sandbox.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace breakwatch::capture {

// The folders of programs and libraries, and the files that the loader needs. Listed for every machine.
const std::vector<std::filesystem::path>& SystemFiles();

struct View {
  std::vector<std::filesystem::path> system = SystemFiles();
  std::vector<std::filesystem::path> readable;  // absolute, without links; a folder includes its content
  std::vector<std::filesystem::path> writable;  // the same of folders that the worker may write
  std::vector<std::filesystem::path> hidden;    // without links; each is below a visible path
};

// Keeps the paths that exist. "/" is never readable. In a home directory, and in a folder
// that contains it, entries that begin with a dot are hidden unless listed in `readable`. Entries below SystemFiles can
// be hidden too, because every sandbox shows those.
View MakeView(const std::vector<std::string>& readable, const std::vector<std::string>& hidden,
              const std::vector<std::string>& writable = {});

// The path without links; empty if it does not exist.
std::filesystem::path RealPath(const std::filesystem::path& path);
bool IsBelow(const std::filesystem::path& path, const std::filesystem::path& folder);  // or the folder itself

}  // namespace breakwatch::capture
