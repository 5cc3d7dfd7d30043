#include "schema.h"

#include <span>
#include <string>
#include <vector>

namespace breakwatch::store {
namespace {

// One statement per text: SQLite's driver runs only the first. Never edit a released migration; add a new one.
using Migration = std::vector<const char*>;

const Migration kVersion1{
    "CREATE TABLE meta (key $TEXT PRIMARY KEY, value $TEXT NOT NULL)",

    "CREATE TABLE sweeps (id $TEXT PRIMARY KEY, state $TEXT NOT NULL, started_ns $INT NOT NULL,"
    " finished_ns $INT NOT NULL, document $TEXT NOT NULL, plan_document $TEXT NOT NULL)",
    "CREATE INDEX sweeps_by_start ON sweeps (started_ns, id)",

    "CREATE TABLE plans (sweep_id $TEXT NOT NULL REFERENCES sweeps (id), position $INT NOT NULL,"
    " model $TEXT NOT NULL, mode $TEXT NOT NULL, structure $TEXT NOT NULL, action $TEXT NOT NULL,"
    " document $TEXT NOT NULL, PRIMARY KEY (sweep_id, position))",
    "CREATE UNIQUE INDEX plans_by_model ON plans (sweep_id, model, mode)",

    "CREATE TABLE structures (digest $TEXT PRIMARY KEY, first_seen_ns $INT NOT NULL, first_model $TEXT NOT NULL)",

    "CREATE TABLE captures (id $TEXT PRIMARY KEY, seq $INT NOT NULL, structure $TEXT NOT NULL,"
    " toolchain $TEXT NOT NULL, worker $TEXT NOT NULL, mode $TEXT NOT NULL, status $TEXT NOT NULL,"
    " started_ns $INT NOT NULL, finished_ns $INT NOT NULL, document $TEXT NOT NULL)",
    "CREATE INDEX captures_by_structure ON captures (structure, mode, seq)",

    "CREATE TABLE sites (capture_id $TEXT NOT NULL REFERENCES captures (id), position $INT NOT NULL,"
    " site_id $TEXT NOT NULL, gb_id $TEXT NOT NULL, reason $TEXT NOT NULL, fixability $TEXT NOT NULL,"
    " file $TEXT NOT NULL, line $INT NOT NULL, function $TEXT NOT NULL, occurrences $INT NOT NULL,"
    " PRIMARY KEY (capture_id, position))",
    "CREATE INDEX sites_by_reason ON sites (reason, gb_id)",
    "CREATE INDEX sites_by_site ON sites (site_id)",

    "CREATE TABLE results (sweep_id $TEXT NOT NULL REFERENCES sweeps (id), model $TEXT NOT NULL,"
    " mode $TEXT NOT NULL, seq $INT NOT NULL, revision $TEXT NOT NULL, structure $TEXT NOT NULL,"
    " capture_id $TEXT REFERENCES captures (id), status $TEXT NOT NULL, finished_ns $INT NOT NULL,"
    " document $TEXT NOT NULL, PRIMARY KEY (sweep_id, model, mode))",
    "CREATE INDEX results_by_model ON results (model, seq)",
    "CREATE INDEX results_by_capture ON results (capture_id)",

    // The steps of history, in order. A result's values are in its own table.
    "CREATE TABLE steps (seq $ID, kind $TEXT NOT NULL, sweep_id $TEXT NOT NULL REFERENCES sweeps (id),"
    " model $TEXT NOT NULL, mode $TEXT NOT NULL, document $TEXT NOT NULL)",

    "CREATE TABLE revisions (model $TEXT NOT NULL, revision $TEXT NOT NULL, structure $TEXT NOT NULL,"
    " toolchain $TEXT NOT NULL, toolchain_document $TEXT NOT NULL, first_seen_ns $INT NOT NULL,"
    " last_seq $INT NOT NULL, PRIMARY KEY (model, revision, structure, toolchain))",
    "CREATE INDEX revisions_by_seq ON revisions (model, last_seq)",

    kFoldTables[0],
    kFoldTables[1],

    "CREATE TABLE events (id $ID, ts_ns $INT NOT NULL, sweep_id $TEXT NOT NULL, model $TEXT NOT NULL,"
    " revision $TEXT NOT NULL, line $TEXT NOT NULL)",
    "CREATE INDEX events_by_sweep ON events (sweep_id, id)",
    "CREATE TABLE cursors (exporter $TEXT PRIMARY KEY, event_id $INT NOT NULL, updated_ns $INT NOT NULL)",
    "CREATE TABLE dead_letters (exporter $TEXT NOT NULL, event_id $INT NOT NULL, ts_ns $INT NOT NULL,"
    " sweep_id $TEXT NOT NULL, model $TEXT NOT NULL, revision $TEXT NOT NULL, line $TEXT NOT NULL,"
    " reason $TEXT NOT NULL, at_ns $INT NOT NULL, PRIMARY KEY (exporter, event_id))",

    "CREATE TABLE gateway_groups (gateway $TEXT NOT NULL, position $INT NOT NULL, name $TEXT NOT NULL,"
    " PRIMARY KEY (gateway, position))",
};

const Migration kVersion2{
    "CREATE TABLE costs (kind $INT NOT NULL, name $TEXT NOT NULL, mode $TEXT NOT NULL, seq $INT NOT NULL,"
    " wall_ms $INT NOT NULL, rss_mib $INT NOT NULL, PRIMARY KEY (kind, name, mode))",
};

// The order of sweeps independent of clocks: the steps at which each began and finished (0: not yet).
const Migration kVersion3{
    "ALTER TABLE sweeps ADD COLUMN seq $INT NOT NULL DEFAULT 0",
    "ALTER TABLE sweeps ADD COLUMN finished_seq $INT NOT NULL DEFAULT 0",
    "UPDATE sweeps SET seq = t.began, finished_seq = CASE WHEN sweeps.state = 'finished' THEN t.finished ELSE 0 END"
    " FROM (SELECT sweep_id, MIN(seq) AS began, MAX(CASE WHEN kind = 'finished' THEN seq ELSE 0 END) AS finished"
    " FROM steps GROUP BY sweep_id) AS t WHERE t.sweep_id = sweeps.id",
    "DROP INDEX IF EXISTS sweeps_by_start",
    "CREATE INDEX sweeps_by_seq ON sweeps (seq)",
};

const Migration kVersion4{
    // Dead letters that are queued to be sent again.
    "CREATE TABLE requeued (exporter $TEXT NOT NULL, event_id $INT NOT NULL, PRIMARY KEY (exporter, event_id))",
    "CREATE TABLE paused (exporter $TEXT PRIMARY KEY, at_ns $INT NOT NULL, detail $TEXT NOT NULL)",
};

const Migration kVersion5{
    // The published state at the end of each day (UTC).
    "CREATE TABLE trends (day $TEXT NOT NULL, toolchain $TEXT NOT NULL, mode $TEXT NOT NULL, scope $TEXT NOT NULL,"
    " name $TEXT NOT NULL, gb_id $TEXT NOT NULL, sweep_id $TEXT NOT NULL, at_ns $INT NOT NULL,"
    " published $INT NOT NULL, models_tracked $INT NOT NULL, models_with_numbers $INT NOT NULL,"
    " full_graph $INT NOT NULL, models $INT NOT NULL, breaks $INT NOT NULL, break_sites $INT NOT NULL,"
    " leverage $INT NOT NULL, fixed $INT NOT NULL, broken $INT NOT NULL, breaks_change $INT NOT NULL,"
    " came $INT NOT NULL, came_full_graph $INT NOT NULL, departed $INT NOT NULL, departed_full_graph $INT NOT NULL,"
    " PRIMARY KEY (day, toolchain, mode, scope, name, gb_id))",
};

const Migration kVersion6{
    "CREATE TABLE artifacts (key $TEXT PRIMARY KEY, model $TEXT NOT NULL, revision $TEXT NOT NULL,"
    " target $TEXT NOT NULL, created_ns $INT NOT NULL, document $TEXT NOT NULL)",
    "CREATE INDEX artifacts_by_model ON artifacts (model, target, created_ns)",
    // `position` is the stage's place in the order of work; `place` is the registry of a publish.
    "CREATE TABLE artifact_stages (key $TEXT NOT NULL REFERENCES artifacts (key), position $INT NOT NULL,"
    " stage $TEXT NOT NULL, place $TEXT NOT NULL, status $TEXT NOT NULL, package_id $TEXT NOT NULL,"
    " started_ns $INT NOT NULL, document $TEXT NOT NULL, PRIMARY KEY (key, position, place))",
    "CREATE INDEX artifact_stages_by_package ON artifact_stages (package_id)",
};

const Migration kVersion7{
    // A plan and its results are runs of rows: of this sweep, or of an earlier one whose models did not change.
    "CREATE TABLE plan_runs (sweep_id $TEXT NOT NULL REFERENCES sweeps (id), position $INT NOT NULL,"
    " of_sweep $TEXT NOT NULL REFERENCES sweeps (id), of_position $INT NOT NULL, models $INT NOT NULL,"
    " PRIMARY KEY (sweep_id, position))",
    "INSERT INTO plan_runs (sweep_id, position, of_sweep, of_position, models)"
    " SELECT sweep_id, MIN(position), sweep_id, MIN(position), MAX(position) - MIN(position) + 1 FROM plans"
    " GROUP BY sweep_id, position / 512",
    "CREATE TABLE result_runs (sweep_id $TEXT NOT NULL REFERENCES sweeps (id), position $INT NOT NULL,"
    " seq $INT NOT NULL, of_seq $INT NOT NULL, models $INT NOT NULL, at_ns $INT NOT NULL,"
    " PRIMARY KEY (sweep_id, position))",
    "INSERT INTO result_runs (sweep_id, position, seq, of_seq, models, at_ns)"
    " SELECT r.sweep_id, COALESCE(p.position, 1000000000 + r.seq), r.seq, r.seq, 1, 0 FROM results r LEFT JOIN plans p"
    " ON p.sweep_id = r.sweep_id AND p.model = r.model AND p.mode = r.mode",
    "CREATE INDEX result_runs_by_row ON result_runs (of_seq)",
    "CREATE INDEX results_by_seq ON results (seq)",
    // Events whose lines follow from the plan or the results, without their lines.
    "CREATE TABLE event_runs (id $ID, events $INT NOT NULL, ts_ns $INT NOT NULL,"
    " sweep_id $TEXT NOT NULL REFERENCES sweeps (id), kind $TEXT NOT NULL, position $INT NOT NULL)",
    // For readers with SQL: every planned model and every result of every sweep.
    "CREATE VIEW all_plans AS SELECT t.sweep_id, t.position + p.position - t.of_position AS position, p.model, p.mode,"
    " p.structure, p.action, p.document FROM plan_runs t JOIN plans p ON p.sweep_id = t.of_sweep"
    " AND p.position >= t.of_position AND p.position < t.of_position + t.models",
    "CREATE VIEW all_results AS SELECT t.sweep_id, r.model, r.mode, t.seq + r.seq - t.of_seq AS seq, r.revision,"
    " r.structure, r.capture_id, r.status, CASE t.at_ns WHEN 0 THEN r.finished_ns ELSE t.at_ns END AS finished_ns,"
    " r.document FROM result_runs t JOIN results r ON r.seq >= t.of_seq AND r.seq < t.of_seq + t.models",
};

const Migration* const kMigrations[] = {&kVersion1, &kVersion2, &kVersion3, &kVersion4,
                                        &kVersion5, &kVersion6, &kVersion7};  // [i]: from version i to i + 1

Result<int> ReadVersion(const Database& database, soci::session& sql) {
  if (!database.dialect().HasTable(sql, "meta")) {
    if (database.dialect().IsEmpty(sql)) return 0;
    return ToError(Failure::kCorrupted, database.name(), "it has tables of another program");
  }
  std::string text;
  sql << "SELECT COALESCE(MAX(value), '') FROM meta WHERE key = 'schema_version'", soci::into(text);
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos)
    return ToError(Failure::kCorrupted, database.name(), "table meta has no schema version");
  return std::stoi(text);
}

Error NewerVersion(const Database& database, int version) {
  return {ErrorCode::kStore,
          database.name() + " has schema version " + std::to_string(version) + ", newer than this program's " +
              std::to_string(NewestSchemaVersion()) + ": use the version of breakwatch that wrote it, or a newer one",
          false,
          {}};
}

Result<void> Apply(Database& database, soci::session& sql, int from) {
  for (const auto* migration : std::span(kMigrations).subspan(static_cast<std::size_t>(from)))
    for (const char* statement : *migration) sql << database.dialect().WithTypes(statement);
  const std::string version = std::to_string(NewestSchemaVersion());
  sql << "DELETE FROM meta WHERE key = 'schema_version'";
  sql << "INSERT INTO meta (key, value) VALUES ('schema_version', :version)", soci::use(version);
  return {};
}

}  // namespace

bool HasSequence(int version) { return version >= 3; }
bool HasRuns(int version) { return version >= 7; }

int NewestSchemaVersion() { return static_cast<int>(std::size(kMigrations)); }

Result<int> SchemaVersionOf(Database& database) {
  return database.Read([&](soci::session& sql) { return ReadVersion(database, sql); });
}

Result<void> PrepareSchema(Database& database, bool read_only) {
  const auto version = SchemaVersionOf(database);
  if (!version) return version.error();
  if (*version == NewestSchemaVersion()) return {};
  if (*version > NewestSchemaVersion()) return NewerVersion(database, *version);
  if (read_only && *version == 0) return Error{ErrorCode::kNotFound, database.name() + " is empty; run a sweep first"};
  // Every older version can be read without migration. Only sweeps use `costs`. Without sequence columns, the start of
  // a sweep determines the order (SqlStore::Newest). `requeued`, `paused`, `trends` and `artifacts` are used only if
  // they exist. A migration that changes the readers' queries must reject older versions here, and advise to run a
  // command that writes.
  if (read_only) return {};
  return database.Migrate([&](soci::session& sql) -> Result<void> {
    // Another session may have migrated first: check again under the lock.
    const auto now = ReadVersion(database, sql);
    if (!now) return now.error();
    if (*now > NewestSchemaVersion()) return NewerVersion(database, *now);
    return Apply(database, sql, *now);
  });
}

}  // namespace breakwatch::store
