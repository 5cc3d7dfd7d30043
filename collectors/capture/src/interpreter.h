// What a Python interpreter needs to run, as it says itself: environments lead elsewhere by links and files of paths.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace breakwatch::capture {

struct Interpreter {
  std::string program;             // absolute; not a script in front of it
  std::vector<std::string> files;  // its environments, library folders, and what those are linked to
};

// Runs it once. Absent: `program` is no Python, or does not run.
std::optional<Interpreter> AskInterpreter(const std::string& program);

}  // namespace breakwatch::capture
