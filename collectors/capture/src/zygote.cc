#include "zygote.h"

#include <csignal>
#include <random>

#include "environment.h"
#include "seconds.h"

namespace breakwatch::capture {
namespace {

constexpr std::size_t kStderrKept = 64 * 1024;
// Limit per descriptor and pass, so that a busy descriptor does not starve the others.
constexpr std::size_t kReadBudget = 1u << 20;
// SIGKILL works at once, except in an uninterruptible wait. That wait is not worth waiting for.
constexpr milliseconds kUnkillable{5'000};

std::string NewMark() {
  std::random_device random;
  std::string mark = "BREAKWATCH_ZYGOTE=";
  for (int i = 0; i < 16; ++i) mark += "0123456789abcdef"[random() % 16];
  return mark;
}

}  // namespace

Result<std::unique_ptr<Zygote>> Zygote::Start(const ZygoteOptions& options, SteadyTime now) {
  std::vector<std::string> argv = options.launcher;
  argv.insert(argv.end(), options.worker.begin(), options.worker.end());
  if (options.worker.empty()) argv.clear();
  ScratchFolder scratch(options.scratch);
  std::vector<std::string> environment = WorkerEnvironment(options, scratch.path());
  std::string mark = NewMark();
  environment.push_back(mark);
  Result<ChildProcess> process = ChildProcess::Spawn(argv, environment);
  if (!process.ok()) return process.error();
  return std::unique_ptr<Zygote>(new Zygote(options, std::move(scratch), *std::move(process), std::move(mark), now));
}

Zygote::Zygote(const ZygoteOptions& options, ScratchFolder scratch, ChildProcess process, std::string mark,
               SteadyTime now)
    : silence_(options.silence),
      hello_limit_(options.hello),
      kill_grace_(options.kill_grace),
      scratch_(std::move(scratch)),
      process_(std::move(process)),
      mark_(std::move(mark)),
      stdout_(kMaxLine),
      stderr_(kStderrKept),
      last_heard_(now) {}

Zygote::~Zygote() {
  if (ended_) return;
  process_.SignalGroup(SIGKILL);
  KillMarked({mark_});
}

void Zygote::AppendPolled(std::vector<pollfd>* polled) const {
  const bool writing = !unsent_.empty() && !stopping_;
  polled->push_back({writing ? process_.in() : -1, POLLOUT, 0});
  polled->push_back({process_.out(), POLLIN, 0});
  polled->push_back({process_.err(), POLLIN, 0});
  polled->push_back({ended_ ? -1 : process_.exit_fd(), POLLIN, 0});
}

std::vector<Message> Zygote::Pump(SteadyTime now) {
  if (ended_) return {};
  // Checks the exit before reading, so that all output written before the exit can be read.
  pollfd exit{process_.exit_fd(), POLLIN, 0};
  const bool exiting = poll(&exit, 1, 0) > 0;
  std::vector<Message> messages = ReadMessages(exiting, now);
  ReadStderr();
  if (exiting) {
    if (const auto end = process_.Reap()) NoteEnd(*end);
  } else {
    Write(now);
  }
  return messages;
}

void Zygote::ReadStderr() {
  if (process_.err() < 0) return;
  std::string bytes;
  const bool open = ReadAvailable(process_.err(), kReadBudget, &bytes);
  stderr_.Append(bytes);
  if (!open) process_.CloseErr();
}

std::vector<Message> Zygote::ReadMessages(bool exiting, SteadyTime now) {
  std::vector<Message> messages;
  if (process_.out() < 0) return messages;
  std::string bytes;
  const bool open = ReadAvailable(process_.out(), exiting ? kMaxLine : kReadBudget, &bytes);
  if (!open) process_.CloseOut();
  if (stopping_) return messages;
  stdout_.Append(bytes);
  while (const auto line = stdout_.Next()) {
    Result<Message> message = ParseMessage(*line);
    if (!message.ok()) {
      Stop("sent an invalid message: " + message.error().message, true, now);
      return messages;
    }
    last_heard_ = now;
    messages.push_back(*std::move(message));
  }
  if (stdout_.Overflowed()) {
    Stop("sent a line of more than " + std::to_string(kMaxLine >> 20) + " MiB", true, now);
  } else if (!open && !exiting) {
    Stop("closed its output", false, now);
  }
  return messages;
}

void Zygote::Send(std::string_view line) {
  unsent_.append(line);
  served_ = true;
}

void Zygote::Write(SteadyTime now) {
  if (unsent_.empty() || stopping_) return;
  const ssize_t written = WriteAvailable(process_.in(), unsent_);
  if (written < 0) {
    Stop("closed its input", false, now);
  } else {
    unsent_.erase(0, static_cast<std::size_t>(written));
  }
}

void Zygote::Stop(const std::string& why, bool ask, SteadyTime now) {
  if (stopping_ || ended_) return;
  stopping_ = true;
  why_ = why;
  by_itself_ = !ask;
  stop_deadline_ = now + kill_grace_;
  process_.CloseIn();
  if (ask) process_.SignalGroup(SIGTERM);
}

void Zygote::CheckDeadlines(SteadyTime now) {
  if (ended_ || now < NextDeadline()) return;
  if (!stopping_) {
    Stop(hello_ ? "sent nothing for " + Seconds(silence_) : "sent no hello within " + Seconds(hello_limit_), true, now);
  } else if (!killed_) {
    killed_ = true;
    stop_deadline_ = now + kUnkillable;
    process_.SignalGroup(SIGKILL);
    KillMarked({mark_});
  } else {
    NoteEnd({true, SIGKILL});
  }
}

SteadyTime Zygote::NextDeadline() const {
  if (ended_) return SteadyTime::max();
  if (stopping_) return stop_deadline_;
  return last_heard_ + (hello_ ? silence_ : hello_limit_);
}

void Zygote::NoteEnd(const ProcessEnd& end) {
  ended_ = true;
  end_ = end.Text();
  // Captures run in their own sessions, so killing the group does not reach them.
  KillMarked({mark_});
}

std::string Zygote::Reason() const {
  if (why_.empty()) return end_;
  return by_itself_ && ended_ && !killed_ ? why_ + " and " + end_ : why_;
}

}  // namespace breakwatch::capture
