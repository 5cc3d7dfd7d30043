// `breakwatch serve`: the daemon.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "breakwatch/api/control_socket.h"
#include "breakwatch/api/event_feed.h"
#include "breakwatch/api/request_log.h"
#include "breakwatch/api/server.h"
#include "breakwatch/config/show.h"
#include "breakwatch/core/text.h"
#include "commands.h"
#include "local_gateway.h"
#include "session.h"
#include "signals.h"
#include "stored_queries.h"
#include "sweep_files.h"

namespace breakwatch::commands {
namespace {

// The drain and the stop together stay below the ten seconds allowed after SIGTERM.
constexpr std::chrono::milliseconds kLastDrain{3'000};

// Sends one datagram to the service manager, if there is one.
void Notify(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path || path[0] == '\0') return;
  std::memcpy(address.sun_path, path, std::strlen(path));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), length);
  close(fd);
}

// Logs the progress of sweeps that no client follows.
class Journal final : public ProgressListener {
 public:
  explicit Journal(const App& app) : app_(app) {}
  void OnPlan(const Plan& plan, std::size_t done) override {
    app_.log(Level::kInfo, "sweep " + plan.sweep_id + " started: " + Counted(plan.models.size(), "model") + " of " +
                               plan.source + (done > 0 ? ", " + std::to_string(done) + " already done" : ""));
  }
  void OnResult(const ModelResult& result, std::size_t done, std::size_t total) override {
    app_.log(Level::kDebug, std::to_string(done) + "/" + std::to_string(total) + " " + result.info.id + " " +
                                std::string(StatusName(result.capture.status)));
  }
  void OnFinished(const Sweep& sweep) override {
    app_.log(Level::kInfo, "sweep " + sweep.id + " finished" + (sweep.complete ? "" : ", incomplete"));
  }
  void OnFailed(const Error& error) override { app_.log(Level::kError, "the sweep failed: " + error.message); }
  void OnWarning(std::string_view text) override { app_.log(Level::kWarn, std::string(text)); }

 private:
  const App& app_;
};

// The results of reloads, and the defaults for requests since then. Written on the loop, read by other threads.
class Reloads {
 public:
  Reloads(App& app, SweepFiles& files, SweepRequest request)
      : app_(app),
        files_(files),
        settings_(app.settings()),
        state_{true, app.clock->Now()},
        request_(std::move(request)) {}
  Result<engine::LoopOptions> Reload() {
    auto reloaded = TryReload();
    const std::lock_guard lock(mutex_);
    state_.successful = reloaded.ok();
    if (!reloaded) return reloaded;  // the loop logs the error
    state_.at = app_.clock->Now();
    request_.list = reloaded->default_request.list;
    request_.rebuild = reloaded->default_request.rebuild;
    request_.modes = reloaded->default_request.modes;
    return reloaded;
  }
  SweepRequest Request() const {
    const std::lock_guard lock(mutex_);
    return request_;
  }
  api::ReloadState State() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

 private:
  Result<engine::LoopOptions> TryReload() {
    const auto loaded = config::Load(app_.sources);
    if (!loaded) return loaded.error();
    auto [settings, need_restart] = config::Reload(settings_, loaded->settings);
    auto options = DaemonOptions(app_, settings);
    if (!options) return options;
    settings_ = std::move(settings);
    files_.Use(*loaded, settings_);
    std::string text = "settings reloaded";
    for (const std::string& key : need_restart)
      text += (&key == &need_restart.front() ? "; these need a restart: " : ", ") + key;
    app_.log(Level::kInfo, text);
    return options;
  }

  App& app_;
  SweepFiles& files_;
  Settings settings_;  // used by the loop only
  mutable std::mutex mutex_;
  api::ReloadState state_;
  SweepRequest request_;
};

}  // namespace

int RunServe(App& app, const ServeOptions& options) {
  if (options.local_gateway) UseLocalGateway(app);
  const Settings& settings = app.settings();
  const auto token = config::ReadSecret(settings.web.token, settings.web.token_file);
  if (!token) return Fail(app, token.error());

  Journal journal(app);
  SweepFiles files(app);
  Fanout progress;
  progress.Add(journal);
  progress.Add(files);
  auto session = Session::Open(app, progress, Session::Use::kDaemon);
  if (!session) return Fail(app, session.error());
  Session& parts = **session;
  const auto request = MakeRequest(settings, {});
  if (!request) return Fail(app, request.error());
  Reloads reloads(app, files, *request);
  files.OnTrim([&](int keep_sweeps) { parts.TrimEvents(keep_sweeps); });
  parts.OnReload([&] { return reloads.Reload(); });
  const auto drain = [&](std::stop_token stop) { return parts.Drain(std::move(stop)); };
  const std::vector<std::string> toolchains = app.toolchain_names(settings);
  auto control =
      api::ControlSocket::Listen(settings.state_dir + "/control.sock", parts.commands(), *request, toolchains, drain);
  if (!control) return Fail(app, control.error());
  progress.Add(**control);
  const auto code_of = [&app](const api::Followed& outcome, bool by_name) {
    const int code = CodeOfRequest(outcome, by_name);
    return AreReported(app.settings().state_dir, outcome.sweeps) ? code : FirstThatApplies(code, kExitStore);
  };
  api::RequestLog requests(*app.clock, drain, code_of);
  progress.Add(requests);
  api::EventFeed feed(*app.clock);
  progress.Add(feed);

  StoredQueries queries(app);
  api::ServerOptions web{settings.web.listen_address,   *token,      settings.web.max_requests,
                         settings.web.enable_lifecycle, app.version, {},
                         settings.web.allowed_hosts};
  auto server = api::Server::Start(
      web, {parts.commands(), queries, *app.clock, [&] { return parts.LatestSnapshot(); },
            [&] { return parts.Delivery(); }, [&] { return parts.Workers(); }, [&] { return reloads.State(); },
            [&] { return reloads.Request(); }, requests, feed, toolchains, settings.models.rules.owners,
            [&] { return config::ShowJson(app.loaded); }, [&] { return parts.Held(); }});
  if (!server) {
    Fail(app, server.error());
    return kExitFailure;
  }
  const Signals signals(
      parts.commands(), [&] { return reloads.Request(); }, Command::Kind::kReload);
  app.log(Level::kInfo, "listening on http://" + (*server)->Address() + ", state in " + settings.state_dir);
  Notify("READY=1\nSTATUS=listening on " + (*server)->Address());
  std::jthread writes_missing([&files](const std::stop_token& stop) { files.WriteMissing(stop); });
  const auto served = parts.loop().Serve();
  Notify("STOPPING=1");
  writes_missing.request_stop();
  // If the state directory was removed, there is nothing to send. Another daemon may now use that path.
  if (parts.Held()) parts.Drain(kLastDrain);
  if (!served && served.error().code != ErrorCode::kInterrupted) return Fail(app, served.error());
  app.log(Level::kInfo, "stopped");
  return kExitOk;
}

}  // namespace breakwatch::commands
