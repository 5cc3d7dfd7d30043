// What a command line that could not be parsed is answered: the help that was asked for, or what is wrong with it.
#pragma once

#include <CLI/CLI.hpp>

#include "breakwatch/commands/app.h"

namespace breakwatch::commands {

// Prints the help, or the error with the nearest known name. Returns the exit code: 0, or that of a usage error.
int ReportParse(const App& app, const CLI::App& cli, const CLI::ParseError& error);

}  // namespace breakwatch::commands
