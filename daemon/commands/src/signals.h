// Signals as commands: a thread waits for signals and pushes commands onto the loop's queue. It uses no signal
// handlers.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <functional>
#include <stop_token>
#include <thread>

#include "breakwatch/core/command.h"

namespace breakwatch::commands {

// SIGINT and SIGTERM: stop (a second one ends the program at once, exit 130). SIGUSR1: start a sweep. SIGHUP:
// `on_hangup`. A daemon reloads; a foreground sweep stops, because its terminal is gone. A signal that was ignored at
// the start stays ignored.
// Owner: the command. The signals must be blocked in every thread (BlockSignals, before any thread starts).
class Signals {
 public:
  // `sweep`: returns the request for SIGUSR1. Called on the signal thread.
  Signals(CommandQueue& commands, std::function<SweepRequest()> sweep, Command::Kind on_hangup = Command::Kind::kStop);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // Requested by the first SIGINT or SIGTERM, for waits that do not look at commands.
  std::stop_token Stop() const { return stop_.get_token(); }

 private:
  void Run(const std::function<SweepRequest()>& sweep);

  CommandQueue& commands_;
  const Command::Kind on_hangup_;
  std::stop_source stop_;
  std::thread thread_;
};

void BlockSignals();
// Exceeding the file size limit then fails the write and does not end the program.
void IgnoreFileSizeSignal();

// While it exists, SIGINT and SIGTERM end the program at once, exit 130. Use it for waits that need no cleanup.
// Thread: the one that created it, with the signals blocked.
class ExitOnSignals {
 public:
  // `words`: a string literal, written to standard error at such an exit.
  explicit ExitOnSignals(const char* words = "");
  ~ExitOnSignals();
  ExitOnSignals(const ExitOnSignals&) = delete;
  ExitOnSignals& operator=(const ExitOnSignals&) = delete;

 private:
  const sigset_t set_;
};

}  // namespace breakwatch::commands
