// Reads the options of a mode from JSON that a person, a settings file or a request gave: strictly, field by field from
// a table. Error: kUsage with the field's name and what it expects, or with the name of an unknown field.
#pragma once

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/json.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/text.h"

namespace breakwatch::option_fields {

using nlohmann::json;

inline constexpr std::size_t kMaxBytes = 16 * 1024, kMaxName = 64;
inline constexpr int kMaxDepth = 4;
inline constexpr std::int64_t kMaxNumber = 1'000'000'000;

template <class Options>
struct Field {
  const char* name;
  const char* expected;
  bool (*read)(const json& in, Options& out);  // false: not what is expected
};

inline Error Wrong(const std::string& option, const std::string& expected) {
  return {ErrorCode::kUsage, option + ": expected " + expected};
}

template <class T>
bool Whole(const json& in, T& out) {
  if (!in.is_number_integer() || in.get<std::int64_t>() < 0 || in.get<std::int64_t>() > kMaxNumber) return false;
  out = in.get<T>();
  return true;
}
inline bool Flag(const json& in, bool& out) {
  if (in.is_boolean()) out = in.get<bool>();
  return in.is_boolean();
}
inline bool Text(const json& in, std::string& out) {
  if (in.is_string()) out = ToUtf8(in.get_ref<const std::string&>());
  return in.is_string();
}
inline bool Number(const json& in, double& out) {
  if (in.is_number()) out = in.get<double>();
  return in.is_number();
}
template <class T, class Read>
bool List(const json& in, std::vector<T>& out, Read read) {
  if (!in.is_array()) return false;
  out.clear();
  return std::all_of(in.begin(), in.end(), [&](const json& element) { return read(element, out.emplace_back()); });
}

// `defaults` with the fields of `text` in their place, as far as `check` accepts them.
template <class Options>
Result<Options> Read(std::string_view text, std::type_identity_t<std::span<const Field<Options>>> fields,
                     Result<void> (*check)(const Options&), Options defaults) {
  if (auto checked = CheckJson(text, kMaxBytes, kMaxDepth); !checked) {
    return Error{ErrorCode::kUsage, checked.error().message};
  }
  const json in = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!in.is_object()) return Error{ErrorCode::kUsage, "expected an object"};
  for (const auto& item : in.items()) {
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const auto& known) { return item.key() == known.name; });
    if (field == fields.end()) {
      return Error{ErrorCode::kUsage, "unknown field \"" + Truncate(ToUtf8(item.key()), kMaxName) + "\""};
    }
    if (!field->read(item.value(), defaults)) return Wrong(field->name, field->expected);
  }
  if (auto checked = check(defaults); !checked) return checked.error();
  return defaults;
}

}  // namespace breakwatch::option_fields
