#include "remote_sweep.h"

#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "remote_history.h"
#include "signals.h"

namespace breakwatch::commands {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kFirstPause{100}, kPause{1'000};

json Parsed(const std::string& text) { return json::parse(text, nullptr, /*allow_exceptions=*/false); }

// A request over HTTP may not name what only the daemon's own user may; what is at its default is left out.
std::string BodyOf(const SweepRequest& request) {
  json body = Parsed(api::ToJson(request));
  body.erase("trigger");
  if (request.toolchain.name.empty()) body.erase("toolchain");
  return JsonText(body);
}

// Passes the events since the last call on to the listener. What cannot be read is left out: it is progress only.
class Follower {
 public:
  explicit Follower(ProgressListener& progress) : progress_(progress) {}

  void Take(RemoteDaemon& daemon, const std::string& sweep_id) {
    const auto text = daemon.Get("/api/v1/events?" + (next_.empty() ? "" : "since=" + next_));
    if (!text) return;
    const json page = Parsed(*text);
    if (!page.is_object()) return;
    next_ = page.value("next", "");
    for (const json& event : page.value("events", json::array())) Pass(event, sweep_id);
  }

 private:
  void Pass(const json& event, const std::string& sweep_id) {
    const json data = event.value("data", json::object());
    if (data.value("sweep_id", "") != sweep_id) return;  // of another sweep, or of none
    const std::string name = event.value("event", "");
    if (name == "planned") {
      Plan plan;
      plan.sweep_id = sweep_id;
      plan.models.resize(data.value("total", std::size_t{0}));
      progress_.OnPlan(plan, data.value("done", std::size_t{0}));
    } else if (name == "result") {
      ModelResult result;
      result.info.id = data.value("model", "");
      result.capture.mode = data.value("mode", "");
      result.capture.detail = data.value("status_detail", "");
      if (const auto status = ParseStatus(data.value("status", ""))) result.capture.status = *status;
      if (data.contains("breaks") && data["breaks"].is_number_integer()) result.capture.breaks = data["breaks"];
      progress_.OnResult(result, data.value("done", std::size_t{0}), data.value("total", std::size_t{0}));
    }
  }

  ProgressListener& progress_;
  std::string next_;
};

std::string TextOf(const json& object, const char* name) {
  return object.contains(name) && object[name].is_string() ? object[name].get<std::string>() : "";
}

// The outcome of a request that has ended.
Result<api::Followed> OutcomeOf(const App& app, const json& request) {
  api::Followed outcome;
  const auto history = OpenHistory(app);
  if (!history) return history.error();
  for (const json& id : request.value("sweeps", json::array())) {
    auto sweep = (*history)->FindSweep(id.get<std::string>());
    if (!sweep) return sweep.error();
    outcome.sweeps.push_back(*std::move(sweep));
  }
  outcome.behind = request.value("exporters_behind", std::vector<std::string>{});
  if (request.contains("error")) {
    const ErrorCode code = CodeNamed(TextOf(request["error"], "code")).value_or(ErrorCode::kInternal);
    outcome.error = Error{code, TextOf(request["error"], "message")};
  }
  if (outcome.sweeps.empty()) return outcome.error.value_or(Error{ErrorCode::kInternal, "the daemon ended no sweep"});
  return outcome;
}

}  // namespace

Result<api::Followed> SweepThere(const App& app, const SweepRequest& request, ProgressListener& progress) {
  const ExitOnSignals exit_on_signals("\nbreakwatch: interrupted; the daemon continues the sweep\n");
  auto daemon = RemoteDaemon::At(app, app.server);
  if (!daemon) return daemon.error();
  const auto accepted = daemon->Post("/api/v1/sweeps", BodyOf(request));
  if (!accepted) return accepted.error();
  const std::string path = TextOf(Parsed(*accepted), "request");
  Follower follower(progress);
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kPause)) {
    const auto text = daemon->Get(path);
    if (!text) return text.error();
    const json state = Parsed(*text);
    if (!state.is_object()) return Error{ErrorCode::kInvalid, "cannot read the answer of " + daemon->url()};
    if (const std::string sweep = TextOf(state, "sweep_id"); !sweep.empty()) follower.Take(*daemon, sweep);
    if (!TextOf(state, "finished_at").empty()) return OutcomeOf(app, state);
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace breakwatch::commands
