// The schema, as numbered migrations; FORMAT.md says what each table is for.
#pragma once

#include <soci/soci.h>

#include "breakwatch/core/result.h"
#include "database.h"

namespace breakwatch::store {

// The version this program writes.
int NewestSchemaVersion();
// Sweeps have the columns seq and finished_seq.
bool HasSequence(int version);
// 0 when there is no schema yet.
Result<int> SchemaVersionOf(Database& database);
// Brings the schema to the newest version; when reading, only checks that it is there already.
Result<void> PrepareSchema(Database& database, bool read_only);

}  // namespace breakwatch::store
