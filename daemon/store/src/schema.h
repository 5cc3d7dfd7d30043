// The schema as numbered migrations; FORMAT.md describes each table.
#pragma once

#include <soci/soci.h>

#include "breakwatch/core/result.h"
#include "database.h"

namespace breakwatch::store {

// The tables of the fold, which can be rebuilt from history.
inline constexpr const char* kFoldTables[] = {
    "CREATE TABLE current (model $TEXT PRIMARY KEY, tracked $INT NOT NULL, document $TEXT NOT NULL)",
    "CREATE TABLE current_meta (key $TEXT PRIMARY KEY, value $TEXT NOT NULL)",
};

// The version that this program writes.
int NewestSchemaVersion();
// True if sweeps have the columns seq and finished_seq.
bool HasSequence(int version);
// True if plans and results are reached through their runs.
bool HasRuns(int version);
// 0 if there is no schema yet.
Result<int> SchemaVersionOf(Database& database);
// Migrates the schema to the newest version. When reading, only checks that it exists.
Result<void> PrepareSchema(Database& database, bool read_only);

}  // namespace breakwatch::store
