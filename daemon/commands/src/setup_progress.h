// SetupPrinter: the progress of `breakwatch setup` on a stream; a bar on a terminal, a line per package otherwise.
#pragma once

#include <cstdio>
#include <string>

#include "breakwatch/commands/setup.h"
#include "breakwatch/core/clock.h"

namespace breakwatch::commands {

class SetupPrinter {
 public:
  // `out` (usually stderr) and `clock` outlive it.
  SetupPrinter(std::FILE* out, const Clock& clock, bool terminal);
  ~SetupPrinter();  // removes the bar
  SetupPrinter(const SetupPrinter&) = delete;
  SetupPrinter& operator=(const SetupPrinter&) = delete;

  void Show(const SetupProgress& progress);

 private:
  void Draw(const SetupProgress& progress);
  void Line(const SetupProgress& progress);

  std::FILE* const out_;
  const Clock& clock_;
  const bool terminal_;
  const SteadyTime started_;
  SteadyTime step_began_;
  SetupProgress shown_;
  bool is_drawn_ = false;
};

}  // namespace breakwatch::commands
