// RequestLog: state and outcome of HTTP requests, by id.
//
// States: queued; running, from the start of its sweep until the exporters are done; then done, failed if no sweep
// ended, or cancelled. Ids are known until the daemon ends.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "breakwatch/api/control_socket.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/progress.h"

namespace breakwatch::api {

// Owner: `serve`. Thread: any; owns one that waits for the exporters. Keeps the newest kMax requests.
class RequestLog final : public ProgressListener {
 public:
  static constexpr std::size_t kMax = 256;

  enum class Kind { kSweep, kReload };
  // The exit code of a request's outcome. `by_name`: it named its models.
  using ExitCode = std::function<int(const Followed& outcome, bool by_name)>;

  // `clock` outlives it.
  RequestLog(const Clock& clock, ControlSocket::Drain drain, ExitCode exit_code);
  ~RequestLog() override;

  // Adds a request and returns its id; nothing if too many are unfinished. `Withdraw` removes a request that was not
  // accepted.
  std::optional<std::string> Add(Kind kind, bool by_name);
  void Withdraw(const std::string& id);
  // Notes that a request is to be cancelled; the loop does it.
  enum class Cancelled { kYes, kUnknown, kTooLate };
  Cancelled Cancel(const std::string& id);

  // JSON documents: one request (nothing if the id is unknown), and all, newest first.
  std::optional<std::string> Find(const std::string& id) const;
  std::string List() const;

  void OnAccepted(std::string_view command_id, std::string_view sweep_id) override;
  void OnRefused(std::string_view command_id, const Error& error) override;
  void OnFinished(const Sweep& sweep) override;
  void OnServed(std::string_view command_id, const Error* error) override;

 private:
  enum class State { kQueued, kRunning, kDelivering, kDone, kFailed, kCancelled };
  static bool HasEnded(State state) { return state >= State::kDone; }
  struct Entry {
    std::string id;
    Kind kind;
    bool by_name;
    State state = State::kQueued;
    SystemTime asked_at{}, began_at{}, ended_at{};
    std::string sweep_id{};
    Followed outcome{};
    int exit_code = 0;
    bool cancelled = false;  // on request; it may end before that
  };

  Entry* Of(std::string_view id);
  void Conclude(Entry& entry);
  void Run(const std::stop_token& stop);
  static std::string Json(const Entry& entry);

  const Clock& clock_;
  const ControlSocket::Drain drain_;
  const ExitCode exit_code_;
  const std::string life_;  // distinguishes the ids of different daemons
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Entry> entries_;  // oldest first
  int added_ = 0;
  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace breakwatch::api
