#include "json_values.h"

#include <cmath>
#include <limits>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"

namespace breakwatch::hub {
namespace {

constexpr std::size_t kMaxTextBytes = 200;

std::string Text(const Json& value) {
  return value.is_string() ? Truncate(ToUtf8(value.get_ref<const std::string&>()), kMaxTextBytes) : std::string();
}

}  // namespace

Result<Json> ParseJson(std::string_view text, std::size_t max_bytes, int max_depth) {
  if (Result<void> checked = CheckJson(text, max_bytes, max_depth); !checked) return checked.error();
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) return Error{ErrorCode::kInvalid, "not JSON"};
  return value;
}

const Json& Member(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string TextAt(const Json& object, const char* name) { return Text(Member(object, name)); }

std::optional<std::int64_t> IntegerAt(const Json& object, const char* name) {
  const Json& value = Member(object, name);
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return std::nullopt;
  const double number = value.get<double>();
  constexpr double kLargest = 9.0e18;  // below 2^63, where the conversion is defined
  if (!(std::abs(number) < kLargest)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::optional<double> NumberAt(const Json& object, const char* name) {
  const Json& value = Member(object, name);
  if (!value.is_number()) return std::nullopt;
  return value.get<double>();
}

bool BoolAt(const Json& object, const char* name) {
  const Json& value = Member(object, name);
  return value.is_boolean() && value.get<bool>();
}

std::vector<std::string> TextsAt(const Json& object, const char* name, std::size_t max_items) {
  std::vector<std::string> texts;
  const Json& list = Member(object, name);
  if (!list.is_array()) return texts;
  for (const Json& item : list) {
    if (texts.size() == max_items) break;
    if (std::string text = Text(item); !text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace breakwatch::hub
