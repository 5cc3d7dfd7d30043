// The program that a worker is started through: it gives up rights for good, then becomes the worker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace breakwatch::capture {

// The subcommand of breakwatch that calls ConfineAndExec; in no help text, since only a launcher has a use for it.
inline constexpr std::string_view kConfineCommand = "sandbox-exec";

// [--landlock] [--read PATH]... [--list PATH]... -- PROGRAM ARGUMENTS...
//
// Drops every capability, sets no_new_privs, installs a filter of system calls, and executes PROGRAM. With --landlock
// also: only the paths after --read can be read (of a folder after --list only the names in it), only $TMPDIR and the
// harmless devices can be written, and no socket can be opened. Does not return but on failure: the exit code, after
// one line on standard error.
int ConfineAndExec(const std::vector<std::string>& arguments);

}  // namespace breakwatch::capture
