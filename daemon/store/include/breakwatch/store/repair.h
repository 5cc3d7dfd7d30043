// Repair: copies what is whole of a damaged SQLite database into a new one, and puts that in its place.
//
// Owner: `breakwatch store repair`, which holds the writer lock. Thread: one. FORMAT.md says what is kept.
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
  // Locks the database against other writers. Error: kStore; for PostgreSQL it says what to do there.
  static Result<std::unique_ptr<Repair>> Begin(const std::string& url, const Clock& clock);
  virtual ~Repair() = default;

  // Writes NewUrl() and the list of what is lost, a JSON object a line with the document as it was read. `current` is
  // empty in the copy: it is folded again from history. Error: kStore, nothing could be read, or the disk.
  virtual Result<void> Copy() = 0;
  virtual std::string NewUrl() const = 0;
  virtual const std::map<std::string, std::int64_t>& kept() const = 0;  // rows by table
  virtual const std::vector<Damage>& lost() const = 0;                  // at most Store::kMaxDamage
  virtual std::int64_t lost_rows() const = 0;
  virtual const std::string& LostPath() const = 0;
  // The damaged database gets a name of its own, which is returned; the copy takes its place. Every session on either
  // is closed.
  virtual Result<std::string> PutInPlace() = 0;
};

}  // namespace breakwatch::store
