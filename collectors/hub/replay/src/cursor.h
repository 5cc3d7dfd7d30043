// Cursor: where a listing goes on, as base64 of the filter that selects the rest.
//
// {"$or":[{"downloads":2,"_id":{"$gt":"6390…"}},{"downloads":{"$lt":2}},{"downloads":null}]}
// {"downloads":null,"_id":{"$gt":"6390…"}}     once only models without a value are left
// {"_id":{"$lt":"6a0e…"}}                      for createdAt, which is the order of _id backwards
// With a search, a "searchSequenceToken" that no client can make.
#pragma once

#include <string>
#include <string_view>

#include "json_file.h"

namespace breakwatch::hub_replay {

// A place in a listing ordered by `key` descending, then _id ascending, without a value last.
struct Cursor {
  std::string key;         // "downloads", ...; "createdAt" has no value
  Json value;              // of the last model; null when it has none
  std::string last_id;     // its _id
  bool inclusive = false;  // that model comes again
  std::string search;      // what is searched for; empty without

  // True when a model with this value and _id comes after (or at, when inclusive) the place.
  bool Selects(const Json& model_value, std::string_view model_id) const;
};

std::string EncodeCursor(const Cursor& cursor);
// Error: kInvalid when it is not a cursor of this key and search.
Result<Cursor> DecodeCursor(std::string_view text, const std::string& key, const std::string& search);

}  // namespace breakwatch::hub_replay
