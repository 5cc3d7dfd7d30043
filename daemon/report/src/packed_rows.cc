#include "packed_rows.h"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>

namespace breakwatch::report {
namespace {

template <class T>
void AppendBytes(const T& value, std::string& out) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class T>
T Take(std::string_view& rest) {
  T value{};
  std::memcpy(&value, rest.data(), sizeof value);
  rest.remove_prefix(sizeof value);
  return value;
}

void AppendCell(const Cell& cell, std::string& out) {
  out.push_back(static_cast<char>(cell.index()));
  std::visit(
      [&out](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::string>) {
          AppendBytes(value.size(), out);
          out += value;
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          AppendBytes(value, out);
        }
      },
      cell);
}

Cell TakeCell(std::string_view& rest) {
  const auto type = static_cast<std::size_t>(rest.front());
  rest.remove_prefix(1);
  switch (type) {
    case 1:
      return Take<bool>(rest);
    case 2:
      return Take<std::int64_t>(rest);
    case 3:
      return Take<double>(rest);
    case 4: {
      const auto size = Take<std::size_t>(rest);
      std::string text(rest.substr(0, size));
      rest.remove_prefix(size);
      return text;
    }
    default:
      return std::monostate();
  }
}
static_assert(std::is_same_v<std::variant_alternative_t<4, Cell>, std::string> && std::variant_size_v<Cell> == 5);

}  // namespace

void PackedRows::Add(const std::vector<Cell>& row) {
  std::string packed;
  for (const Cell& cell : row) AppendCell(cell, packed);
  packed.shrink_to_fit();
  rows_.push_back(std::move(packed));
}

std::vector<Cell> PackedRows::At(std::size_t place) const {
  std::vector<Cell> row;
  for (std::string_view rest = rows_[place]; !rest.empty();) row.push_back(TakeCell(rest));
  return row;
}

std::vector<std::vector<Cell>> PackedRows::All() const {
  std::vector<std::vector<Cell>> rows;
  for (std::size_t i = 0; i < rows_.size(); ++i) rows.push_back(At(i));
  return rows;
}

}  // namespace breakwatch::report
