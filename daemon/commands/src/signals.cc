#include "signals.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "breakwatch/commands/app.h"

namespace breakwatch::commands {
namespace {

// Ends the thread. No other code uses this signal.
constexpr int kEnd = SIGUSR2;

constexpr std::array kEnding = {SIGINT, SIGTERM};

// A signal that was ignored at the start stays ignored, as under `nohup` or for background jobs. sigwait would take it
// if it were blocked.
bool IsIgnored(int number) {
  struct sigaction now {};
  return sigaction(number, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

sigset_t NotIgnored(std::span<const int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) {
    if (!IsIgnored(number)) sigaddset(&set, number);
  }
  return set;
}

sigset_t Handled() {
  sigset_t set = NotIgnored(std::array{SIGINT, SIGTERM, SIGHUP, SIGUSR1});
  sigaddset(&set, kEnd);
  return set;
}

// The message of ExitOnSignals. Global, because a signal handler takes no argument.
const char* last_words = "";

void ExitNow(int) {
  (void)!write(STDERR_FILENO, last_words, std::strlen(last_words));
  _exit(kExitInterrupted);
}

}  // namespace

void BlockSignals() {
  const sigset_t set = Handled();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  IgnoreFileSizeSignal();
}

void IgnoreFileSizeSignal() { signal(SIGXFSZ, SIG_IGN); }

ExitOnSignals::ExitOnSignals(const char* words) : set_(NotIgnored(kEnding)) {
  last_words = words;
  for (const int number : kEnding) {
    if (sigismember(&set_, number) == 1) signal(number, ExitNow);
  }
  pthread_sigmask(SIG_UNBLOCK, &set_, nullptr);
}

ExitOnSignals::~ExitOnSignals() {
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  for (const int number : kEnding) {
    if (sigismember(&set_, number) == 1) signal(number, SIG_DFL);
  }
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
      stop_.request_stop();
      command.kind = Command::Kind::kStop;
    } else if (number == SIGHUP) {
      command.kind = on_hangup_;
    } else {
      command.request = sweep();
      command.request.trigger = SweepTrigger::kSignal;
    }
    [[maybe_unused]] const bool taken = commands_.Push(std::move(command));  // full: enough commands are waiting
  }
}

}  // namespace breakwatch::commands
