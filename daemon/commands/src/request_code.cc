#include "breakwatch/api/control_socket.h"
#include "commands.h"

namespace breakwatch::commands {

int CodeOfRequest(const api::Followed& outcome, bool by_name) {
  // A sweep of a further toolchain may fail after the first sweep ended, so each sweep and the error contribute an exit
  // code.
  int code = outcome.error ? ExitCode(*outcome.error) : kExitOk;
  const std::string not_found(StatusName(Status::kSkippedNotFound));
  for (const Sweep& sweep : outcome.sweeps) {
    if (!sweep.complete || !outcome.behind.empty()) code = FirstThatApplies(code, kExitIncomplete);
    if (by_name && sweep.statuses.contains(not_found)) code = FirstThatApplies(code, kExitFailure);
  }
  return code;
}

}  // namespace breakwatch::commands
