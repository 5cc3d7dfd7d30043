// Handlers: what each operation of the contract does. A function reads the snapshot, the store or the request log and
// returns the reply; it never writes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "breakwatch/api/server.h"
#include "call.h"
#include "site_index.h"

namespace breakwatch::api {

struct Context {
  const ServerOptions& options;
  const ServerParts& parts;
  SiteIndex& sites;
  ModelMetrics& metrics;
};

using Handler = Reply (*)(Context& context, const Call& call);

struct Binding {
  std::string_view operation;
  Handler handler;
};

// Every operation of the contract. The server itself writes the stream of `getEvents`, if the client wants one.
std::span<const Binding> Bindings();
inline constexpr std::string_view kEventStream = "getEvents";

// --- of the snapshot: state_handlers.cc, site_handlers.cc
Reply ListModels(Context& context, const Call& call);
Reply ListFamilies(Context& context, const Call& call);
Reply ListQuarantine(Context& context, const Call& call);
Reply ListReasons(Context& context, const Call& call);
Reply GetReason(Context& context, const Call& call);
Reply ListSites(Context& context, const Call& call);
Reply GetSite(Context& context, const Call& call);

// --- of the store: history_handlers.cc, model_handlers.cc
Reply ListSweeps(Context& context, const Call& call);
Reply GetSweep(Context& context, const Call& call);
Reply ListResultsOfSweep(Context& context, const Call& call);
Reply ListReasonsOfSweep(Context& context, const Call& call);
Reply ListFailuresOfSweep(Context& context, const Call& call);
Reply GetPlanOfSweep(Context& context, const Call& call);
Reply GetPlan(Context& context, const Call& call);
Reply GetModel(Context& context, const Call& call);
Reply GetHistory(Context& context, const Call& call);
Reply ListResults(Context& context, const Call& call);
Reply ListModelIds(Context& context, const Call& call);
Reply GetCapture(Context& context, const Call& call);
Reply Compare(Context& context, const Call& call);
Reply ListTrends(Context& context, const Call& call);
Reply ListDeadLetters(Context& context, const Call& call);

// --- of the daemon: daemon_handlers.cc
Reply GetStatus(Context& context, const Call& call);
Reply GetEvents(Context& context, const Call& call);
Reply ListExporters(Context& context, const Call& call);
Reply ListSettings(Context& context, const Call& call);
Reply GetVersion(Context& context, const Call& call);
Reply GetOpenApi(Context& context, const Call& call);
Reply IsHealthy(Context& context, const Call& call);
Reply IsReady(Context& context, const Call& call);
Reply GetMetrics(Context& context, const Call& call);
Reply GetModelMetrics(Context& context, const Call& call);
Reply ListRequests(Context& context, const Call& call);
Reply GetRequest(Context& context, const Call& call);
Reply RequestSweep(Context& context, const Call& call);
Reply CancelRequest(Context& context, const Call& call);
Reply Reload(Context& context, const Call& call);

// 202 with the id of a request and its path.
Reply Accepted(const std::string& id);

// The reply of `use(snapshot)`; 503 before the first snapshot.
template <class Use>
Reply WithSnapshot(Context& context, const Use& use) {
  const SnapshotPtr snapshot = context.parts.snapshot();
  return snapshot ? use(*snapshot) : Problem(503, "the state is being loaded");
}

}  // namespace breakwatch::api
