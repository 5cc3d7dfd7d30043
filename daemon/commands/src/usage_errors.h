// The output for a command line that cannot be parsed: the requested help, or the error.
#pragma once

#include <CLI/CLI.hpp>

#include "breakwatch/commands/app.h"

namespace breakwatch::commands {

// Prints the help, or the error with the most similar name. Returns the exit code: 0, or the one for usage errors.
int ReportParse(const App& app, const CLI::App& cli, const CLI::ParseError& error);

}  // namespace breakwatch::commands
