// `breakwatch page`: the page and the reads of the HTTP API on a store, without a daemon.
#include "breakwatch/api/event_feed.h"
#include "breakwatch/api/request_log.h"
#include "breakwatch/api/server.h"
#include "breakwatch/config/show.h"
#include "breakwatch/engine/plan_request.h"
#include "commands.h"
#include "signals.h"
#include "stored_queries.h"
#include "stored_state.h"

namespace breakwatch::commands {
namespace {

// Returns at SIGINT, SIGTERM or SIGHUP.
void WaitForEnd(CommandQueue& commands) {
  const auto wait = engine::WaitForStop(commands);
  while (wait(commands.Fd())) {
  }
}

}  // namespace

int RunPage(App& app) {
  const Settings& settings = app.settings();
  StoredState state(app);
  if (auto loaded = state.Load(); !loaded) return Fail(app, loaded.error());

  CommandQueue commands;
  StoredQueries queries(app);
  const auto no_drain = [](std::stop_token) { return std::vector<std::string>(); };
  api::RequestLog requests(*app.clock, no_drain, [](const api::Followed&, bool) { return kExitOk; });
  api::EventFeed feed(*app.clock);
  api::ServerOptions web;
  web.listen_address = settings.web.listen_address;
  web.max_requests = settings.web.max_requests;
  web.allowed_hosts = settings.web.allowed_hosts;
  web.version = app.version;
  web.read_only = true;
  const SystemTime began = app.clock->Now();
  auto server = api::Server::Start(web, {.commands = commands,
                                         .queries = queries,
                                         .clock = *app.clock,
                                         .snapshot = [&] { return state.Latest(); },
                                         .delivery = [&] { return state.Delivery(); },
                                         .workers = [] { return WorkersOfAll(); },
                                         .reload_state =
                                             [&] {
                                               return api::ReloadState{true, began};
                                             },
                                         .default_request = [] { return SweepRequest(); },
                                         .requests = requests,
                                         .feed = feed,
                                         .toolchains = app.toolchain_names(settings),
                                         .owners = settings.models.rules.owners,
                                         .settings = [&] { return config::ShowJson(app.loaded); }});
  if (!server) return Fail(app, server.error());
  const Signals signals(commands, [] { return SweepRequest(); });
  Print(app, "Page      http://" + (*server)->Address() + "/\n");
  app.log(Level::kInfo, "reading " + config::StoreUrl(settings) + "; Ctrl-C ends");
  WaitForEnd(commands);
  return kExitOk;
}

}  // namespace breakwatch::commands
