// `breakwatch events status`: what each exporter still has to send.
#include <algorithm>
#include <chrono>
#include <map>

#include "breakwatch/core/text.h"
#include "breakwatch/report/table.h"
#include "commands.h"
#include "delivery_options.h"

namespace breakwatch::commands {
namespace {

std::string Age(std::chrono::nanoseconds age) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7'200) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds / 3'600) + " h";
}

std::string StateOf(const store::DeliveryState& state, bool configured, std::int64_t pending) {
  if (!configured) return "not configured";
  if (!state.paused.empty()) return "paused";
  return pending > 0 ? "pending" : "ok";
}

}  // namespace

int RunEventsStatus(App& app) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto states = (*store)->DeliveryStates();
  if (!states) return Fail(app, states.error());
  const auto newest = (*store)->NewestEventId();
  if (!newest) return Fail(app, newest.error());
  std::map<std::string, store::DeliveryState> by_name;
  for (const store::DeliveryState& state : *states) by_name[state.exporter] = state;
  const std::vector<std::string> configured = EventExporters(app.settings());
  for (const std::string& name : configured) by_name[name].exporter = name;

  report::Table table;
  table.columns = {{"exporter", "EXPORTER"},         {"state", "STATE"},
                   {"pending", "PENDING", true},     {"oldest_age_s", "", true},
                   {"oldest", "OLDEST", true},       {"cursor", "CURSOR", true},
                   {"newest_event", "NEWEST", true}, {"dead_letters", "DEAD LETTERS", true},
                   {"queued", "QUEUED", true},       {"paused_since", "PAUSED SINCE"},
                   {"detail", "ANSWER", false, 100}, {"last_error_at", "LAST ERROR"},
                   {"last_error", "", false, 100}};
  table.when_empty = "no event exporter is configured";
  for (const auto& [name, state] : by_name) {
    const std::int64_t behind = std::max<std::int64_t>(0, *newest - state.cursor);
    report::Cell age, age_text;
    if (behind > 0) {
      const auto oldest = (*store)->EventsAfter(state.cursor, 1, 1);
      if (!oldest) return Fail(app, oldest.error());
      if (!oldest->empty()) {
        const auto waited = std::max(std::chrono::nanoseconds(0), app.clock->Now().time_since_epoch() -
                                                                      std::chrono::nanoseconds(oldest->front().ts_ns));
        age = std::chrono::duration<double>(waited).count();
        age_text = Age(waited);
      }
    }
    const bool is_configured = std::find(configured.begin(), configured.end(), name) != configured.end();
    table.rows.push_back({name, StateOf(state, is_configured, behind + state.queued), behind, age, age_text,
                          state.cursor, *newest, state.dead_letters, state.queued,
                          state.paused.empty() ? report::Cell() : report::Cell(FormatTime(state.paused_at)),
                          state.paused.empty() ? report::Cell() : report::Cell(state.paused),
                          state.last_error.empty() ? report::Cell() : report::Cell(FormatTime(state.last_error_at)),
                          state.last_error.empty() ? report::Cell() : report::Cell(state.last_error)});
  }
  Print(app, report::Render(table, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

}  // namespace breakwatch::commands
