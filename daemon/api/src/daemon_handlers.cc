// The daemon itself: status, settings, metrics, and requests.
#include "breakwatch/api/control_socket.h"
#include "breakwatch/core/exposition.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "contract_data.h"
#include "handlers.h"
#include "json_values.h"
#include "self_metrics.h"
#include "untrusted_request.h"

namespace breakwatch::api {
namespace {

using nlohmann::ordered_json;

constexpr const char* kExposition = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kText = "text/plain";

Reply Enqueue(Context& context, Command command) {
  RequestLog& requests = context.parts.requests;
  const bool is_sweep = command.kind == Command::Kind::kSweep;
  const auto id =
      requests.Add(is_sweep ? RequestLog::Kind::kSweep : RequestLog::Kind::kReload, !command.request.list.ids.empty());
  if (id) command.id = *id;
  if (!id || !context.parts.commands.Push(std::move(command))) {
    if (id) requests.Withdraw(*id);
    Reply reply = Problem(503, "too many requests are waiting");
    reply.headers["Retry-After"] = "10";
    return reply;
  }
  return Accepted(*id);
}

}  // namespace

Reply Accepted(const std::string& id) {
  const std::string location = "/api/v1/requests/" + id;
  Reply reply{.status = 202, .body = "{\"id\": \"" + id + "\", \"request\": \"" + location + "\"}\n"};
  reply.headers["Location"] = location;
  return reply;
}

Reply GetStatus(Context& context, const Call&) {
  const SnapshotPtr snapshot = context.parts.snapshot();
  static const Snapshot kNone;
  const Snapshot& s = snapshot ? *snapshot : kNone;
  const bool held = !context.parts.held || context.parts.held().ok();
  std::int64_t with_numbers = 0, full_graph = 0;
  for (const TrackedModel& model : s.models) {
    const Numbers* numbers = s.NumbersOf(model);
    with_numbers += numbers != nullptr ? 1 : 0;
    full_graph += numbers != nullptr && numbers->reasons.empty() ? 1 : 0;
  }
  return Json({{"version", context.options.version},
               {"ready", snapshot != nullptr && held},
               {"toolchain", s.toolchain_key},
               {"models_tracked", s.models.size()},
               {"models_with_numbers", with_numbers},
               {"full_graph", full_graph},
               {"last_sweep_id", s.sweep.sweep_id},
               {"last_success", TimeOrNull(s.sweep.last_success)},
               {"last_failure", TimeOrNull(s.sweep.last_failure)},
               {"next_due", TimeOrNull(s.sweep.next_due)},
               {"interval_s", s.sweep.interval.count()},
               {"running", Parsed(context.parts.feed.Status())["running"]}});
}

Reply GetEvents(Context& context, const Call& call) {
  const EventFeed& feed = context.parts.feed;
  const auto since = feed.NumberOf(call.Get("since"));
  const EventFeed::Batch batch = feed.After(since.value_or(0));
  ordered_json events = ordered_json::array();
  if (!batch.is_complete || (!since && !call.Get("since").empty())) {
    events.push_back({{"id", feed.IdOf(0)}, {"event", "reset"}, {"data", ordered_json::object()}});
  }
  for (const FeedEvent& event : batch.events) {
    events.push_back({{"id", feed.IdOf(event.number)}, {"event", event.name}, {"data", Parsed(event.data)}});
  }
  return Json({{"events", std::move(events)}, {"next", feed.IdOf(batch.newest)}});
}

Reply ListExporters(Context& context, const Call&) {
  ordered_json exporters = ordered_json::array();
  for (const DeliveryStats& d : context.parts.delivery()) {
    exporters.push_back({{"exporter", d.exporter},
                         {"attempts", d.attempts},
                         {"failures", d.failures},
                         {"events_pending", d.events_pending},
                         {"dead_letters", d.dead_letters},
                         {"oldest_at", TimeOrNull(d.oldest_at)},
                         {"last_success", TimeOrNull(d.last_success)},
                         {"last_failure", TimeOrNull(d.last_failure)},
                         {"paused", d.paused}});
  }
  return Json({{"exporters", std::move(exporters)}});
}

Reply ListSettings(Context& context, const Call&) { return {.body = context.parts.settings()}; }

Reply GetVersion(Context& context, const Call&) {
  const SnapshotPtr snapshot = context.parts.snapshot();
  ordered_json toolchains = ordered_json::array();
  if (snapshot) {
    for (const Toolchain& toolchain : snapshot->toolchains) toolchains.push_back(Parsed(breakwatch::ToJson(toolchain)));
  }
  return Json({{"version", context.options.version},
               {"toolchains", std::move(toolchains)},
               {"configured_toolchains", context.parts.toolchains}});
}

Reply GetOpenApi(Context&, const Call&) { return {.body = kOpenApi}; }

Reply IsHealthy(Context&, const Call&) { return {.body = "healthy\n", .type = kText}; }

Reply IsReady(Context& context, const Call&) {
  const auto held = context.parts.held ? context.parts.held() : Result<void>();
  const bool loaded = context.parts.snapshot() != nullptr;
  const std::string text = !held ? held.error().message : loaded ? "ready" : "the state is being loaded";
  return {.status = loaded && held ? 200 : 503, .body = text + "\n", .type = kText};
}

Reply GetMetrics(Context& context, const Call&) {
  return {.body = SelfMetrics(context.parts, context.options.version), .type = kExposition};
}

Reply GetModelMetrics(Context& context, const Call&) {
  const SnapshotPtr snapshot = context.parts.snapshot();
  if (!snapshot) return Problem(503, "the state is being loaded");
  auto packed = context.metrics.Scrape(snapshot);
  if (!packed) return Problem(packed.error());
  if (*packed) return {.type = kExposition, .packed = *std::move(packed)};
  Reply reply = Problem(429, "too many scrapes at once: " + std::to_string(ModelMetrics::kAtOnce) + " are answered");
  reply.headers["Retry-After"] = "5";
  return reply;
}

Reply ListRequests(Context& context, const Call&) { return {.body = context.parts.requests.List()}; }

Reply GetRequest(Context& context, const Call& call) {
  const auto found = context.parts.requests.Find(call.Get("id"));
  return found ? Reply{.body = *found} : Problem(404, "no request \"" + call.Get("id") + "\" among the newest 256");
}

Reply RequestSweep(Context& context, const Call& call) {
  auto sweep = SweepRequestFromJson(call.body.empty() ? "{}" : call.body, context.parts.default_request());
  if (!sweep) return Problem(sweep.error());
  if (auto checked = CheckUntrusted(*sweep, context.parts.toolchains); !checked) return Problem(checked.error());
  sweep->trigger = SweepTrigger::kApi;
  return Enqueue(context, {Command::Kind::kSweep, {}, std::move(*sweep), {}});
}

Reply CancelRequest(Context& context, const Call& call) {
  const std::string& id = call.Get("id");
  switch (context.parts.requests.Cancel(id)) {
    case RequestLog::Cancelled::kUnknown:
      return Problem(404, "no request \"" + id + "\" among the newest 256");
    case RequestLog::Cancelled::kTooLate:
      return Problem(409, "request \"" + id + "\" has ended");
    case RequestLog::Cancelled::kYes:
      break;
  }
  if (!context.parts.commands.Push({Command::Kind::kCancel, id, {}, {}}))
    return Problem(503, "too many requests are waiting");
  return Accepted(id);
}

Reply Reload(Context& context, const Call&) {
  if (!context.options.enable_lifecycle) return Problem(403, "disabled: set web.enable_lifecycle, or send SIGHUP");
  return Enqueue(context, {Command::Kind::kReload, {}, {}, {}});
}

}  // namespace breakwatch::api
