// View: which of this machine's files a sandboxed worker sees, before it is put in the words of a sandbox.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace breakwatch::capture {

struct View {
  std::vector<std::filesystem::path> readable;  // absolute, and where they lead; a folder with all below
  std::vector<std::filesystem::path> hidden;    // where they lead; each below something that is shown
};

// What exists of `readable` and `hidden`. "/" is never readable. Of a home directory, or of a folder around it, the
// entries that begin with a dot are hidden, but for those that are readable themselves. Hidden is also what lies below
// SystemFiles, which every sandbox shows.
View MakeView(const std::vector<std::string>& readable, const std::vector<std::string>& hidden);

// The folders of programs and libraries, and the files that the loader needs: on every machine's list.
const std::vector<std::filesystem::path>& SystemFiles();

// Without links; empty: it is not there.
std::filesystem::path RealPath(const std::filesystem::path& path);
bool IsBelow(const std::filesystem::path& path, const std::filesystem::path& folder);  // or the folder itself

}  // namespace breakwatch::capture
