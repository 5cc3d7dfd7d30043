#include "signals.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "breakwatch/commands/app.h"

namespace breakwatch::commands {
namespace {

// Ends the thread; nobody else has a use for it.
constexpr int kEnd = SIGUSR2;

sigset_t Handled() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, kEnd}) sigaddset(&set, signal);
  return set;
}

sigset_t Ending() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&set, signal);
  return set;
}

}  // namespace

void BlockSignals() {
  const sigset_t set = Handled();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write, not the end of the program
}

ExitOnSignals::ExitOnSignals() {
  for (const int number : {SIGINT, SIGTERM}) signal(number, [](int) { _exit(kExitInterrupted); });
  const sigset_t set = Ending();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

ExitOnSignals::~ExitOnSignals() {
  const sigset_t set = Ending();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  for (const int number : {SIGINT, SIGTERM}) signal(number, SIG_DFL);
}

Signals::Signals(CommandQueue& commands, std::function<SweepRequest()> sweep, Command::Kind on_hangup)
    : commands_(commands), on_hangup_(on_hangup), thread_([this, sweep = std::move(sweep)] { Run(sweep); }) {}

Signals::~Signals() {
  pthread_kill(thread_.native_handle(), kEnd);
  thread_.join();
}

void Signals::Run(const std::function<SweepRequest()>& sweep) {
  pthread_setname_np(pthread_self(), "signals");
  const sigset_t set = Handled();
  bool stopping = false;
  for (int number = 0; sigwait(&set, &number) == 0 && number != kEnd;) {
    Command command;
    command.id = "signal";
    if (number == SIGINT || number == SIGTERM) {
      if (stopping) _exit(kExitInterrupted);
      stopping = true;
      command.kind = Command::Kind::kStop;
    } else if (number == SIGHUP) {
      command.kind = on_hangup_;
    } else {
      command.request = sweep();
      command.request.trigger = "signal";
    }
    [[maybe_unused]] const bool taken = commands_.Push(std::move(command));  // full: enough commands wait already
  }
}

}  // namespace breakwatch::commands
