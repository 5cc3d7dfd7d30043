// Pages of sorted rows and of places: the cursors of the lists.
//
// A cursor states after which row a page begins, so rows that are added meanwhile neither repeat nor skip one.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/text.h"

namespace breakwatch::api {

inline Error BadCursor() { return {ErrorCode::kUsage, "cursor is not one of this list: take `next` of a page"}; }

// Any text as a cursor, and back; nullopt if it is none.
inline std::string CursorOf(const std::string& text) {
  return Hex({reinterpret_cast<const unsigned char*>(text.data()), text.size()});
}
std::optional<std::string> TextOfCursor(const std::string& cursor);
// A place as a cursor. An empty cursor is place 0.
Result<std::int64_t> PlaceOfCursor(const std::string& cursor);

// What a row is sorted by. Rows without a value come last in either direction; equal ones are ordered by id.
struct SortKey {
  bool missing = false;
  std::int64_t number = 0;
  std::string_view text{}, id{};
};

inline bool ComesBefore(const SortKey& a, const SortKey& b, bool downwards) {
  if (a.missing != b.missing) return b.missing;
  if (a.number != b.number) return (a.number < b.number) != downwards;
  if (a.text != b.text) return (a.text < b.text) != downwards;
  return a.id < b.id;
}

template <class Row>
struct Sorted {
  SortKey key;
  const Row* row = nullptr;
};

template <class Row>
struct SortedPage {
  std::vector<const Row*> rows;
  nlohmann::ordered_json next;  // null: the last page
};

// The rows after the cursor. Error: kUsage, not a cursor.
template <class Row>
Result<SortedPage<Row>> PageOf(std::vector<Sorted<Row>> rows, bool downwards, const std::string& cursor, int limit) {
  const auto before = [&](const Sorted<Row>& a, const Sorted<Row>& b) { return ComesBefore(a.key, b.key, downwards); };
  if (!cursor.empty()) {
    const auto text = TextOfCursor(cursor);
    const auto at = nlohmann::json::parse(text.value_or(""), nullptr, /*allow_exceptions=*/false);
    if (!at.is_array() || at.size() != 4 || !at[0].is_boolean() || !at[1].is_number_integer() || !at[2].is_string() ||
        !at[3].is_string()) {
      return BadCursor();
    }
    const auto key_text = at[2].template get<std::string>(), id = at[3].template get<std::string>();
    const SortKey last{at[0].template get<bool>(), at[1].template get<std::int64_t>(), key_text, id};
    std::erase_if(rows, [&](const Sorted<Row>& row) { return !ComesBefore(last, row.key, downwards); });
  }
  const std::size_t size = std::min(rows.size(), static_cast<std::size_t>(limit));
  std::partial_sort(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(size), rows.end(), before);
  SortedPage<Row> page;
  for (std::size_t i = 0; i < size; ++i) page.rows.push_back(rows[i].row);
  if (size == rows.size()) return page;
  const SortKey& last = rows[size - 1].key;
  page.next =
      CursorOf(JsonText(nlohmann::json{last.missing, last.number, std::string(last.text), std::string(last.id)}));
  return page;
}

}  // namespace breakwatch::api
