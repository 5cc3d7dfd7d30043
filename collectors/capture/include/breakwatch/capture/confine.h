// The program that starts a worker: it drops privileges permanently, then executes the worker.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace breakwatch::capture {

// The subcommand of breakwatch that calls ConfineAndExec; not in the help, because only launchers use it.
inline constexpr std::string_view kConfineCommand = "sandbox-exec";

// [--landlock] [--read PATH]... [--list PATH]... [--write PATH]... -- PROGRAM ARGUMENTS...
//
// Drops every capability, sets no_new_privs, installs a system call filter, and executes PROGRAM. With --landlock
// also: only the paths after --read can be read (of a folder after --list only the names in it), only $TMPDIR, the
// paths after --write and the harmless devices can be written, and no socket can be opened. Returns only on failure:
// the exit code, after one line on standard error.
int ConfineAndExec(const std::vector<std::string>& arguments);

}  // namespace breakwatch::capture
