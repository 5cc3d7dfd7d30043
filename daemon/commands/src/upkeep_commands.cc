// The maintenance commands: store, config, version.
#include <nlohmann/json.hpp>

#include "breakwatch/config/show.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/aggregate.h"
#include "breakwatch/store/repair.h"
#include "breakwatch/store/writer_lock.h"
#include "commands.h"
#include "sweep_files.h"

namespace breakwatch::commands {

int RunStoreInfo(App& app) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto version = (*store)->SchemaVersion();
  if (!version) return Fail(app, version.error());
  const auto models = (*store)->Models();
  if (!models) return Fail(app, models.error());
  const auto sweeps = (*store)->Sweeps(1);
  if (!sweeps) return Fail(app, sweeps.error());
  const auto events = (*store)->NewestEventId();
  if (!events) return Fail(app, events.error());
  const std::string newest = sweeps->empty() ? "" : sweeps->front().id;
  const std::string url = config::StoreUrl(app.settings());
  if (app.json) {
    const nlohmann::ordered_json document = {{"store", url},
                                             {"schema", *version},
                                             {"models", models->size()},
                                             {"newest_sweep", newest},
                                             {"events", *events}};
    Print(app, JsonDocument(document, 1));
    return kExitOk;
  }
  Print(app, "store         " + url + "\nschema        " + std::to_string(*version) + "\nmodels        " +
                 std::to_string(models->size()) + "\nnewest sweep  " + (newest.empty() ? "none" : newest) +
                 "\nevents        " + std::to_string(*events) + "\n");
  return kExitOk;
}

namespace {

nlohmann::ordered_json ToJson(const std::vector<store::Damage>& damage) {
  auto list = nlohmann::ordered_json::array();
  for (const store::Damage& one : damage)
    list.push_back({{"table", one.table}, {"row", one.row}, {"model", one.model}, {"what", one.what}});
  return list;
}

std::string Dump(const nlohmann::ordered_json& document) { return JsonDocument(document, 1); }

std::string Lines(const std::vector<store::Damage>& damage) {
  std::string text;
  for (const store::Damage& one : damage) text += store::Describe(one) + "\n";
  if (damage.size() == store::Store::kMaxDamage) text += "...\n";
  return text;
}

Result<void> Rebuild(store::CurrentState& state, const Settings& settings) {
  engine::AggregateOptions options;
  options.unranked_sweeps = settings.retention.unranked_sweeps;
  options.trend_days = settings.retention.trend_days;
  return engine::RebuildCurrent(state, options);
}

// Rebuilds the derived tables of the copy and checks it.
Result<void> FoldCopy(const App& app, const std::string& url) {
  auto copy = store::Store::Open({url}, *app.clock);
  if (!copy) return copy.error();
  if (auto rebuilt = Rebuild(**copy, app.settings()); !rebuilt) return rebuilt;
  return (*copy)->Check();
}

}  // namespace

int RunStoreCheck(App& app) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto damage = (*store)->FindDamage();
  if (!damage) return Fail(app, damage.error());
  const std::string url = config::StoreUrl(app.settings());
  if (app.json)
    Print(app, Dump({{"store", url}, {"damage", ToJson(*damage)}}));
  else
    Print(app, damage->empty() ? "ok: " + url + "\n" : Lines(*damage));
  if (damage->empty()) return kExitOk;
  return Fail(app, {ErrorCode::kStore,
                    url + " is damaged: stop the daemon and run `breakwatch store repair`, or restore a backup"});
}

int RunStoreFinish(App& app) {
  if (const auto there = app.open_store(app.settings(), /*read_only=*/true); !there) return Fail(app, there.error());
  const auto lock = store::WriterLock::Take(app.settings().state_dir);
  if (!lock) return Fail(app, lock.error());
  SweepFiles files(app);
  const std::vector<Sweep> written = files.WriteMissing();
  std::string text;
  for (const Sweep& sweep : written) text += app.settings().state_dir + "/sweeps/" + sweep.id + "\n";
  Print(app, text + "written: " + Counted(written.size(), "report") + "\n");
  return files.failed() ? kExitStore : kExitOk;
}

int RunStoreRepair(App& app) {
  const std::string url = config::StoreUrl(app.settings());
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store && store.error().code != ErrorCode::kStore) return Fail(app, store.error());
  const auto lock = store::WriterLock::Take(app.settings().state_dir);
  if (!lock) return Fail(app, lock.error());
  if (store) {
    const auto damage = (*store)->FindDamage();
    // A locked or unavailable database is not damage. An error that stops the search inside the file is.
    if (!damage && (damage.error().retryable || damage.error().code != ErrorCode::kStore))
      return Fail(app, damage.error());
    if (damage && damage->empty() && (*store)->Check()) return Print(app, "ok: no damage in " + url + "\n"), kExitOk;
    store->reset();
  }
  auto repair = store::Repair::Begin(url, *app.clock);
  if (!repair) return Fail(app, repair.error());
  if (auto copied = (*repair)->Copy(); !copied) return Fail(app, copied.error());
  if (auto folded = FoldCopy(app, (*repair)->NewUrl()); !folded) return Fail(app, folded.error());
  const auto aside = (*repair)->PutInPlace();
  if (!aside) return Fail(app, aside.error());
  std::int64_t kept = 0;
  for (const auto& [table, rows] : (*repair)->kept()) kept += rows;
  if (app.json) {
    Print(app, Dump({{"store", url},
                     {"damaged", *aside},
                     {"lost_file", (*repair)->LostPath()},
                     {"kept_rows", (*repair)->kept()},
                     {"lost_rows", (*repair)->lost_rows()},
                     {"lost", ToJson((*repair)->lost())}}));
    return kExitOk;
  }
  std::string text = "repaired: " + Counted(static_cast<std::size_t>(kept), "row") + " kept, " +
                     Counted(static_cast<std::size_t>((*repair)->lost_rows()), "row") + " lost\n";
  if (!(*repair)->lost().empty()) text += "lost:\n" + Lines((*repair)->lost());
  text += "damaged database  " + *aside + "\nlost rows         " + (*repair)->LostPath() + "\n";
  Print(app, text);
  return kExitOk;
}

int RunStoreRebuild(App& app) {
  if (const auto there = app.open_store(app.settings(), /*read_only=*/true); !there) return Fail(app, there.error());
  const auto lock = store::WriterLock::Take(app.settings().state_dir);
  if (!lock) return Fail(app, lock.error());
  auto store = app.open_store(app.settings(), /*read_only=*/false);
  if (!store) return Fail(app, store.error());
  if (const auto locked = (*store)->LockAsWriter(); !locked) return Fail(app, locked.error());
  if (const auto rebuilt = Rebuild(**store, app.settings()); !rebuilt) return Fail(app, rebuilt.error());
  const auto current = (*store)->LoadCurrent();
  if (!current) return Fail(app, current.error());
  Print(app, "rebuilt: " + Counted(current->models.size(), "model") + " computed from the history\n");
  return kExitOk;
}

int RunConfigShow(App& app) {
  Print(app, app.json ? config::ShowJson(app.loaded) : config::ShowText(app.loaded));
  return kExitOk;
}

int RunConfigCheck(App& app) {
  Print(app, config::CheckText(app.loaded));
  return kExitOk;
}

int RunConfigExplain(App& app, const std::string& key) {
  const auto text = app.json ? config::ExplainJson(key) : config::ExplainText(key);
  if (!text) return Fail(app, text.error());
  Print(app, *text);
  return kExitOk;
}

int RunConfigExample(App& app) {
  Print(app, config::ExampleYaml());
  return kExitOk;
}

int RunVersion(App& app) {
  Print(app, app.json ? "{\"version\": \"" + app.version + "\"}\n" : "breakwatch " + app.version + "\n");
  return kExitOk;
}

}  // namespace breakwatch::commands
