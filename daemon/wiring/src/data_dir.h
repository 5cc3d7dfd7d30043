// Files that come with the program: the worker package, the bundled snapshot, the default environment.
#pragma once

#include <string>

namespace breakwatch::wiring {

// The directory of the program's data: $BREAKWATCH_DATA_DIR; else the checkout that the program was built in
// (build/<preset>/ is two directories below it), else share/breakwatch beside the program's bin/; else the working
// directory where it is a checkout; else /usr/share/breakwatch.
std::string DataDir();

// The file that comes with the program under this path, which is relative to DataDir().
std::string DataFile(const std::string& path);

// A path from the configuration: as it is where it is absolute, a bare command name, or exists in the working
// directory; else below DataDir().
std::string ConfiguredFile(const std::string& path);

}  // namespace breakwatch::wiring
