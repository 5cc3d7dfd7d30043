#include "cursor.h"

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "digests.h"

namespace breakwatch::hub_replay {
namespace {

constexpr std::size_t kMaxCursor = 4096;

std::string SearchToken(const Cursor& cursor) {
  return Base64(Sha256Hex(cursor.search + '\n' + cursor.last_id).substr(0, 32));
}

// Reads {"_id":{"$gt":id}} of `filter` into the cursor.
bool ReadLastId(const Json& filter, bool backwards, Cursor& cursor) {
  const auto id = filter.find("_id");
  if (id == filter.end() || !id->is_object() || id->size() != 1) return false;
  const std::string compare = id->begin().key();
  const Json& value = id->begin().value();
  const std::string strict = backwards ? "$lt" : "$gt";
  cursor.inclusive = compare == strict + "e";
  if ((!cursor.inclusive && compare != strict) || !value.is_string()) return false;
  cursor.last_id = value.get<std::string>();
  return true;
}

bool ReadFilter(const Json& filter, Cursor& cursor) {
  if (cursor.key == "createdAt") return ReadLastId(filter, true, cursor);
  const auto alternatives = filter.find("$or");
  if (alternatives != filter.end() && (!alternatives->is_array() || alternatives->size() != 3)) return false;
  const Json& same_value = alternatives == filter.end() ? filter : alternatives->front();
  if (!same_value.is_object() || !same_value.contains(cursor.key)) return false;
  cursor.value = same_value[cursor.key];
  return (alternatives == filter.end()) == cursor.value.is_null() && ReadLastId(same_value, false, cursor);
}

}  // namespace

bool Cursor::Selects(const Json& model_value, std::string_view model_id) const {
  if (inclusive && model_id == last_id) return true;
  if (key == "createdAt") return model_id < last_id;
  if (model_value == value) return model_id > last_id;
  if (value.is_null()) return false;
  return model_value.is_null() || model_value < value;
}

std::string EncodeCursor(const Cursor& cursor) {
  Json filter;
  const std::string suffix = cursor.inclusive ? "e" : "";
  if (cursor.key == "createdAt") {
    filter = {{"_id", {{"$lt" + suffix, cursor.last_id}}}};
  } else {
    const Json same_value = {{cursor.key, cursor.value}, {"_id", {{"$gt" + suffix, cursor.last_id}}}};
    const Json less = {{cursor.key, {{"$lt", cursor.value}}}}, none = {{cursor.key, nullptr}};
    filter = cursor.value.is_null() ? same_value : Json{{"$or", Json::array({same_value, less, none})}};
  }
  if (!cursor.search.empty()) filter["searchSequenceToken"] = SearchToken(cursor);
  return Base64(JsonText(filter));
}

Result<Cursor> DecodeCursor(std::string_view text, const std::string& key, const std::string& search) {
  const Error bad{ErrorCode::kInvalid, "Invalid cursor"};
  const auto bytes = text.size() <= kMaxCursor ? FromBase64(text) : std::nullopt;
  if (!bytes) return bad;
  const auto filter = ParseChecked(*bytes, kMaxCursor);
  if (!filter || !filter->is_object()) return bad;
  Cursor cursor;
  cursor.key = key;
  cursor.search = search;
  if (!ReadFilter(*filter, cursor)) return bad;
  if (!search.empty() && Text(*filter, "searchSequenceToken") != SearchToken(cursor)) return bad;
  return cursor;
}

}  // namespace breakwatch::hub_replay
