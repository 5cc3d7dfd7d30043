// A folder for the files that libtorch unpacks from packages and leaves behind if a load fails or the process ends.
#pragma once

#include <functional>

namespace breakwatch::artifact {

// Runs `body` in a process of its own whose TMPDIR is a new folder, and returns its exit code. The folder is removed
// however that process ends: also by a signal, which then ends this process too. That process does not outlive this
// one. Only if this one is killed by SIGKILL, the folder stays.
//
// Thread: main's, before any other thread.
int InOwnTmpdir(const std::function<int()>& body);

}  // namespace breakwatch::artifact
