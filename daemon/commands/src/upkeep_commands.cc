// The commands of upkeep: store, config, version.
#include <nlohmann/json.hpp>

#include "breakwatch/config/show.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/aggregate.h"
#include "breakwatch/store/writer_lock.h"
#include "commands.h"

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
    Print(app, document.dump(1) + "\n");
    return kExitOk;
  }
  Print(app, "store         " + url + "\nschema        " + std::to_string(*version) + "\nmodels        " +
                 std::to_string(models->size()) + "\nnewest sweep  " + (newest.empty() ? "none" : newest) +
                 "\nevents        " + std::to_string(*events) + "\n");
  return kExitOk;
}

int RunStoreCheck(App& app) {
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  if (const auto checked = (*store)->Check(); !checked) return Fail(app, checked.error());
  Print(app, "ok: " + config::StoreUrl(app.settings()) + "\n");
  return kExitOk;
}

int RunStoreRebuild(App& app) {
  if (const auto there = app.open_store(app.settings(), /*read_only=*/true); !there) return Fail(app, there.error());
  const auto lock = store::WriterLock::Take(app.settings().state_dir);
  if (!lock) return Fail(app, lock.error());
  auto store = app.open_store(app.settings(), /*read_only=*/false);
  if (!store) return Fail(app, store.error());
  if (const auto locked = (*store)->LockAsWriter(); !locked) return Fail(app, locked.error());
  engine::AggregateOptions options;
  options.unranked_sweeps = app.settings().retention.unranked_sweeps;
  if (const auto rebuilt = engine::RebuildCurrent(**store, options); !rebuilt) return Fail(app, rebuilt.error());
  const auto current = (*store)->LoadCurrent();
  if (!current) return Fail(app, current.error());
  Print(app, "rebuilt: " + Counted(current->models.size(), "model") + " folded from history\n");
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
