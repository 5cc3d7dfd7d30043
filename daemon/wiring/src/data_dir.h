// Files that belong to the program: the worker package, the bundled snapshot, the default environment.
#pragma once

#include <string>

namespace breakwatch::wiring {

// The directory of the program's data, the first of these that applies: $BREAKWATCH_DATA_DIR; the checkout in which the
// program was built (build/<preset>/ is two directories below it); share/breakwatch beside the program's bin/; the
// working directory if it is a checkout; /usr/share/breakwatch.
std::string DataDir();

// The program's own file with this path, which is relative to DataDir().
std::string DataFile(const std::string& path);

// breakwatch-runner: beside this program, as a build leaves it, else in the default toolchain, where `breakwatch setup`
// puts it. Empty: it is in neither.
std::string RunnerProgram();

// The one of the installation, which cannot find libtorch where it is; empty: none.
std::string InstalledRunner();

// A path from the settings. It is unchanged if it is absolute, a bare command name, or exists in the working directory;
// otherwise it is below DataDir().
std::string ConfiguredFile(const std::string& path);

}  // namespace breakwatch::wiring
