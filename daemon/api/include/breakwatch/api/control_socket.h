// The control socket: how a command hands its request to the daemon of the same state directory and follows it.
//
// <state>/control.sock, mode 0600. The client sends one JSON line {"type":"sweep","request":{...}}, where it may add
// `capture` (an imported one, with a plan of one model). The daemon's own user (SO_PEERCRED) may also add
// `python` (the interpreter of the request's toolchain), name any toolchain, and name models that are the
// user's own code. Any other user, root included unless the daemon runs as root, may name what HTTP requests may. The
// daemon answers JSON lines: accepted {id}; then of each sweep, one by each toolchain: listing {resolved,total}; plan
// {plan,already_done}; waiting {why}; result {done,total,result}; finished {sweep}; and finally failed {code,message}
// if no sweep ended, else done {behind,error {code,message} or absent}. Then it closes.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/command.h"
#include "breakwatch/core/progress.h"
#include "breakwatch/core/result.h"

namespace breakwatch::api {

// A request as the socket and POST /api/v1/sweeps carry it. Absent fields keep the value of `defaults`.
// `imported`: the capture sent with it. Error: kUsage, naming the field.
std::string ToJson(const SweepRequest& request);
Result<SweepRequest> SweepRequestFromJson(std::string_view text, const SweepRequest& defaults,
                                          std::optional<CaptureResult> imported = {});

// Owner: `serve`. Owns its thread; as a ProgressListener it is called on the loop and never blocks: a follower
// that does not read loses its connection.
class ControlSocket : public ProgressListener {
 public:
  // Waits for required exporters after a sweep, at most until a stop request, and returns those behind.
  using Drain = std::function<std::vector<std::string>(std::stop_token)>;

  // `toolchains`: those that a user other than the daemon's may name.
  static Result<std::unique_ptr<ControlSocket>> Listen(const std::string& path, CommandQueue& commands,
                                                       const SweepRequest& defaults,
                                                       std::vector<std::string> toolchains, Drain drain);
};

// The outcome of a followed request.
struct Followed {
  std::vector<Sweep> sweeps{};        // those that ended, the primary toolchain's first; at least one
  std::vector<std::string> behind{};  // required exporters that did not accept everything in time
  std::optional<Error> error{};       // of the first sweep that did not end
};

// Hands the request over and reports progress to `listener` until its last sweep ended. Nothing if no daemon listens.
// Error: kInternal if the daemon ended; else the first sweep's error.
Result<std::optional<Followed>> FollowSweep(const std::string& path, const SweepRequest& request,
                                            ProgressListener& listener);

}  // namespace breakwatch::api
