// Files that come with the program: the worker package, the bundled snapshot, the default environment.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch {

// Where the project's folders are: the working directory when it has them, else beside the program (build/<preset>/
// is two folders below), else $BREAKWATCH_ROOT, else /usr/share/breakwatch.
std::string Root();

// `path` when it is absolute, has no folder, or exists as it is; else below Root().
std::string Resource(const std::string& path);

// `text` as a JSON string with its quotes.
std::string JsonText(std::string_view text);

}  // namespace breakwatch
