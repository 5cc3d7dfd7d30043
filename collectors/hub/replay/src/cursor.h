// Cursor: where the next page of a listing begins, as base64 of the filter that selects the rest.
//
// {"$or":[{"downloads":2,"_id":{"$gt":"6390…"}},{"downloads":{"$lt":2}},{"downloads":null}]}
// {"downloads":null,"_id":{"$gt":"6390…"}}     when only models without a value remain
// {"_id":{"$lt":"6a0e…"}}                      for createdAt, which is the reverse order of _id
// A search adds a "searchSequenceToken" that clients cannot create.
#pragma once

#include <string>
#include <string_view>

#include "json_file.h"

namespace breakwatch::hub_replay {

// A position in a listing ordered by `key` descending, then _id ascending. Models without a value come last.
struct Cursor {
  std::string key;         // "downloads", ...; "createdAt" has no value
  Json value;              // of the last model; null when it has none
  std::string last_id;     // its _id
  bool inclusive = false;  // include that model again
  std::string search;      // the search text; empty if there is none

  // True if a model with this value and _id is after the position, or at it when inclusive.
  bool Selects(const Json& model_value, std::string_view model_id) const;
};

std::string EncodeCursor(const Cursor& cursor);
// Error: kInvalid if it is not a cursor for this key and search.
Result<Cursor> DecodeCursor(std::string_view text, const std::string& key, const std::string& search);

}  // namespace breakwatch::hub_replay
