// Zygote: one worker process and the messages exchanged with it. Returns messages; its owner interprets them.
#pragma once

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/capture/zygote_runner.h"
#include "buffers.h"
#include "message.h"
#include "process.h"
#include "scratch.h"

namespace breakwatch::capture {

// States: starting -> ready (hello received) -> stopping -> ended. Never blocks.
class Zygote {
 public:
  static constexpr std::size_t kPolled = 4;

  static Result<std::unique_ptr<Zygote>> Start(const ZygoteOptions& options, SteadyTime now);
  ~Zygote();

  // Appends kPolled descriptors to poll.
  void AppendPolled(std::vector<pollfd>* polled) const;
  // Reads and writes without blocking, regardless of poll's events. Returns messages in order. Empty while stopping.
  std::vector<Message> Pump(SteadyTime now);

  void Send(std::string_view line);
  void SetReady(const Hello& hello) { hello_ = hello; }
  // Its remaining processes were already handled: the destructor only reaps.
  void Forget() { ended_ = true; }
  void SetWrongProtocol() { wrong_protocol_ = true; }
  // The zygote is unusable. Asks it to end (unless it is ending by itself), then kills it after the grace period.
  void Stop(const std::string& why, bool ask, SteadyTime now);
  // Handles timeouts due at `now`: silence, missing hello, end of the grace period.
  void CheckDeadlines(SteadyTime now);
  SteadyTime NextDeadline() const;

  bool ready() const { return hello_ && !stopping_; }
  bool stopping() const { return stopping_; }
  bool served() const { return served_; }  // received a capture
  bool wrong_protocol() const { return wrong_protocol_; }
  bool ended() const { return ended_; }  // and reaped, together with its remaining processes
  const std::optional<Hello>& hello() const { return hello_; }
  const std::string& mark() const { return mark_; }
  ChildProcess& process() { return process_; }
  // Why it ended, one phrase that follows "the worker": "sent nothing for 20 s", "exited with code 1".
  std::string Reason() const;
  std::string StderrTail(std::size_t max) const { return stderr_.Text(max); }

 private:
  Zygote(const ZygoteOptions& options, ScratchFolder scratch, ChildProcess process, std::string mark, SteadyTime now);
  void ReadStderr();
  std::vector<Message> ReadMessages(bool exiting, SteadyTime now);
  void Write(SteadyTime now);
  void NoteEnd(const ProcessEnd& end);

  const milliseconds silence_, hello_limit_, kill_grace_;
  ScratchFolder scratch_;  // must outlive the process
  ChildProcess process_;
  const std::string mark_;
  LineBuffer stdout_;
  TailBuffer stderr_;
  std::string unsent_;
  std::optional<Hello> hello_;
  SteadyTime last_heard_;  // or start time, until hello
  bool served_ = false, wrong_protocol_ = false, stopping_ = false, killed_ = false, ended_ = false;
  SteadyTime stop_deadline_{};
  std::string why_;        // the argument of Stop
  bool by_itself_ = true;  // it ended by itself, not by Stop
  std::string end_;
};

}  // namespace breakwatch::capture
