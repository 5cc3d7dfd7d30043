// Signals as commands: a thread waits for them and pushes onto the loop's queue. No handler runs anywhere.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <functional>
#include <thread>

#include "breakwatch/core/command.h"

namespace breakwatch::commands {

// SIGINT and SIGTERM: stop (a second one ends the program at once, exit 130). SIGUSR1: a sweep. SIGHUP: as asked; a
// daemon reloads, while for a sweep in the foreground it means that the terminal is gone. One that was ignored when the
// program started stays ignored.
// Owner: the command. The signals must be blocked in every thread (BlockSignals, before any thread starts).
class Signals {
 public:
  // `sweep`: what SIGUSR1 asks for. Called on the thread of signals.
  Signals(CommandQueue& commands, std::function<SweepRequest()> sweep, Command::Kind on_hangup = Command::Kind::kStop);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void Run(const std::function<SweepRequest()>& sweep);

  CommandQueue& commands_;
  const Command::Kind on_hangup_;
  std::thread thread_;
};

void BlockSignals();
// A file that may grow no further is an error of the write then, and not the end of the program.
void IgnoreFileSizeSignal();

// While it lives, SIGINT and SIGTERM end the program at once, exit 130: for a wait that leaves nothing to clean up.
// Thread: the one that made it, where the signals are blocked.
class ExitOnSignals {
 public:
  // `words`: written to standard error at such an end; a literal.
  explicit ExitOnSignals(const char* words = "");
  ~ExitOnSignals();
  ExitOnSignals(const ExitOnSignals&) = delete;
  ExitOnSignals& operator=(const ExitOnSignals&) = delete;

 private:
  const sigset_t set_;
};

}  // namespace breakwatch::commands
