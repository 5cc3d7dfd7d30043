// Repair: copies everything undamaged of a SQLite database into a new one, which replaces it.
//
// Owner: `breakwatch store repair`, which holds the writer lock. Thread: one. FORMAT.md describes what is kept.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/result.h"
#include "breakwatch/store/store.h"

namespace breakwatch::store {

class Repair {
 public:
  // Locks the database against other writers. Error: kStore; for PostgreSQL, with what to do instead.
  static Result<std::unique_ptr<Repair>> Begin(const std::string& url, const Clock& clock);
  virtual ~Repair() = default;

  // Writes NewUrl() and the list of lost rows, a JSON object a line with the document as it was read. `current` is
  // empty in the copy: it is folded again from the history. Error: kStore if nothing could be read, or by the disk.
  virtual Result<void> Copy() = 0;
  virtual std::string NewUrl() const = 0;
  virtual const std::map<std::string, std::int64_t>& kept() const = 0;  // rows by table
  virtual const std::vector<Damage>& lost() const = 0;                  // at most Store::kMaxDamage
  virtual std::int64_t lost_rows() const = 0;
  virtual const std::string& LostPath() const = 0;
  // Renames the damaged database and returns its new name; the copy takes its place. All sessions on both must be
  // closed.
  virtual Result<std::string> PutInPlace() = 0;
};

}  // namespace breakwatch::store
