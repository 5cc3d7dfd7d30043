#include <algorithm>

#include "breakwatch/api/control_socket.h"
#include "commands.h"

namespace breakwatch::commands {

int CodeOfRequest(const api::Followed& outcome, bool by_name) {
  if (outcome.error) return ExitCode(*outcome.error);
  const bool complete =
      std::all_of(outcome.sweeps.begin(), outcome.sweeps.end(), [](const Sweep& s) { return s.complete; });
  if (!complete || !outcome.behind.empty()) return kExitIncomplete;
  const std::string not_found(StatusName(Status::kSkippedNotFound));
  const bool found = std::none_of(outcome.sweeps.begin(), outcome.sweeps.end(),
                                  [&](const Sweep& s) { return s.statuses.contains(not_found); });
  return found || !by_name ? kExitOk : kExitFailure;
}

}  // namespace breakwatch::commands
