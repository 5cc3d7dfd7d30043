// The files that a Python interpreter needs, as it reports them: environments refer to other folders by links and .pth
// files.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace breakwatch::capture {

struct Interpreter {
  std::string program;             // absolute; the interpreter itself, not a wrapper script
  std::vector<std::string> files;  // its environments, library folders and their link targets
};

// Runs it once. nullopt if `program` is not Python, or does not run.
std::optional<Interpreter> AskInterpreter(const std::string& program);

}  // namespace breakwatch::capture
