// The schema, as numbered migrations; FORMAT.md says what each table is for.
#pragma once

#include <soci/soci.h>

#include "breakwatch/core/result.h"
#include "database.h"

namespace breakwatch::store {

// Of the tables of the fold, which can be made anew from history.
inline constexpr const char* kFoldTables[] = {
    "CREATE TABLE current (model $TEXT PRIMARY KEY, tracked $INT NOT NULL, document $TEXT NOT NULL)",
    "CREATE TABLE current_meta (key $TEXT PRIMARY KEY, value $TEXT NOT NULL)",
};

// The version this program writes.
int NewestSchemaVersion();
// Sweeps have the columns seq and finished_seq.
bool HasSequence(int version);
// 0 when there is no schema yet.
Result<int> SchemaVersionOf(Database& database);
// Brings the schema to the newest version; when reading, only checks that it is there already.
Result<void> PrepareSchema(Database& database, bool read_only);

}  // namespace breakwatch::store
