// Reads the fields of a CaptureResult::mode_detail_json. They come from a worker, and most are only shown: a missing,
// null or unusable field keeps its default, so that one bad number does not hide the rest. Long texts are cut.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/text.h"

namespace breakwatch {

using nlohmann::json;

inline constexpr int kMaxDetailDepth = 16;
inline constexpr std::size_t kMaxDetailText = 1024;
inline constexpr double kMaxDetailValue = 1e15;

inline Error WrongDetail(const std::string& field, const std::string& expected) {
  return {ErrorCode::kInvalid, "field \"" + field + "\": expected " + expected};
}

inline std::string TextOf(const json& in, const char* name) {
  const auto it = in.find(name);
  if (it == in.end() || !it->is_string()) return {};
  return Truncate(ToUtf8(it->get_ref<const std::string&>()), kMaxDetailText);
}
inline bool FlagOf(const json& in, const char* name, bool otherwise = false) {
  const auto it = in.find(name);
  return it != in.end() && it->is_boolean() ? it->get<bool>() : otherwise;
}
inline std::optional<double> SignedOf(const json& in, const char* name) {
  const auto it = in.find(name);
  if (it == in.end() || !it->is_number()) return std::nullopt;
  const double value = it->get<double>();
  return std::isfinite(value) && std::abs(value) <= kMaxDetailValue ? std::optional(value) : std::nullopt;
}
inline std::optional<double> NumberOf(const json& in, const char* name) {
  const auto value = SignedOf(in, name);
  return value && *value >= 0 ? value : std::nullopt;
}
inline std::int64_t CountOf(const json& in, const char* name) {
  return static_cast<std::int64_t>(NumberOf(in, name).value_or(0));
}
inline int SmallOf(const json& in, const char* name) {
  return static_cast<int>(std::min<std::int64_t>(CountOf(in, name), 1 << 30));
}
// The field, or an empty value of the kind.
inline json ListOf(const json& in, const char* name) {
  const auto it = in.find(name);
  return it != in.end() && it->is_array() ? *it : json::array();
}
inline json ObjectOf(const json& in, const char* name) {
  const auto it = in.find(name);
  return it != in.end() && it->is_object() ? *it : json::object();
}

template <class T>
std::vector<T> ListOf(const json& in, const char* name, std::size_t most, T (*read)(const json&)) {
  std::vector<T> values;
  for (const json& element : ListOf(in, name)) {
    if (values.size() == most) break;
    if (element.is_object()) values.push_back(read(element));
  }
  return values;
}

}  // namespace breakwatch
