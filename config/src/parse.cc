#include "parse.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "breakwatch/core/text.h"
#include "value_text.h"

namespace breakwatch::config {
namespace {

template <class T>
std::optional<T> ParseNumber(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Unit {
  std::string_view name;
  std::int64_t factor;
};
// A unit comes before any unit that is its prefix.
constexpr Unit kDurations[] = {{"ms", 1}, {"s", 1'000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
constexpr Unit kSizes[] = {{"KiB", 1LL << 10}, {"MiB", 1LL << 20}, {"GiB", 1LL << 30},
                           {"TiB", 1LL << 40}, {"B", 1},           {"", 1}};

// Removes a number and a unit from the front of `text`. nullopt if there is none, or if it is too large.
std::optional<std::int64_t> TakeQuantity(std::string_view& text, std::span<const Unit> units) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ParseNumber<std::int64_t>(text.substr(0, digits));
  if (!number) return std::nullopt;
  const std::string_view rest = text.substr(digits);
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return rest.starts_with(u.name); });
  if (unit == units.end() || *number > std::numeric_limits<std::int64_t>::max() / unit->factor) return std::nullopt;
  text = rest.substr(unit->name.size());
  return *number * unit->factor;
}

std::string Plain(double number) {
  if (std::abs(number) < 1e15 && number == std::floor(number)) return std::to_string(static_cast<std::int64_t>(number));
  std::string text(32, '\0');
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return text.substr(0, static_cast<std::size_t>(end - text.data()));
}

// Reads a value of the field's type from a scalar; nullopt if it is invalid. The caller checks limits.
struct Reader {
  const Key& key;
  const std::string& text;
  std::optional<bool> As(bool) const {
    if (text != "true" && text != "false") return std::nullopt;
    return text == "true";
  }
  std::optional<int> As(int) const { return ParseNumber<int>(text); }
  std::optional<std::int64_t> As(std::int64_t) const {
    return key.is_size ? ParseSize(text) : ParseNumber<std::int64_t>(text);
  }
  std::optional<std::uint64_t> As(std::uint64_t) const { return ParseNumber<std::uint64_t>(text); }
  std::optional<double> As(double) const {
    const auto number = ParseNumber<double>(text);
    return number && std::isfinite(*number) ? number : std::nullopt;
  }
  std::optional<milliseconds> As(milliseconds) const { return ParseDuration(text); }
};

bool HasBounds(const Key& key) { return key.min != 0 || key.max != 0; }

template <class T>
bool InBounds(const Key& key, T value) {
  if (!HasBounds(key)) return true;
  double number = 0;
  if constexpr (std::is_same_v<T, milliseconds>) {
    number = static_cast<double>(value.count());
  } else {
    number = static_cast<double>(value);
  }
  return number >= key.min && number <= key.max;
}

// Sets fields. On failure returns a description of the expected value.
struct Setter {
  const Key& key;
  const Raw& raw;
  Settings& settings;

  template <class T>
  std::optional<std::string> operator()(FieldOf<T> field) const {
    // A quoted scalar is always text. Durations and sizes are also text.
    const bool texty = std::is_same_v<T, milliseconds> || key.is_size;
    if (raw.kind != Raw::Kind::kPlain && !(texty && raw.kind == Raw::Kind::kQuoted)) return TypeName(key);
    const std::optional<T> value = Reader{key, raw.text}.As(T{});
    if (!value) return TypeName(key);
    if (!InBounds(key, *value)) return Bounds();
    field(settings) = *value;
    return std::nullopt;
  }
  template <class T>
  std::optional<std::string> operator()(FieldOf<std::optional<T>> field) const {
    if (raw.kind == Raw::Kind::kNull) {
      field(settings).reset();
      return std::nullopt;
    }
    if (raw.kind != Raw::Kind::kPlain) return TypeName(key);
    const std::optional<T> value = Reader{key, raw.text}.As(T{});
    if (!value) return TypeName(key);
    if constexpr (!std::is_same_v<T, bool>) {
      if (!InBounds(key, *value)) return Bounds();
    }
    field(settings) = *value;
    return std::nullopt;
  }
  std::optional<std::string> operator()(FieldOf<std::string> field) const {
    if (raw.kind != Raw::Kind::kPlain && raw.kind != Raw::Kind::kQuoted) return TypeName(key);
    if (const auto expected = Unfit(raw.text)) return expected;
    field(settings) = raw.text;
    return std::nullopt;
  }
  std::optional<std::string> operator()(FieldOf<std::vector<std::string>> field) const {
    if (const auto expected = UnfitList()) return expected;
    field(settings) = raw.items;
    return std::nullopt;
  }
  std::optional<std::string> operator()(FieldOf<std::vector<ToolchainRef>> field) const {
    if (const auto expected = UnfitList()) return expected;
    field(settings).clear();
    for (const std::string& item : raw.items) field(settings).push_back(ParseToolchainRef(item));
    return std::nullopt;
  }

  std::optional<std::string> UnfitList() const {
    if (raw.kind != Raw::Kind::kList) return TypeName(key);
    for (const std::string& item : raw.items) {
      if (const auto expected = Unfit(item)) return "each item to be " + *expected;
    }
    return std::nullopt;
  }
  std::optional<std::string> Unfit(const std::string& text) const {
    const bool known = std::find(key.allowed.begin(), key.allowed.end(), text) != key.allowed.end();
    if (!key.allowed.empty() && !known) return TypeName(key);
    if (text.find('\0') != std::string::npos || ToUtf8(text) != text) return "UTF-8 text without NUL";
    return key.check ? key.check(text) : std::nullopt;
  }
  std::string Bounds() const { return "a value from " + Shown(key.min) + " to " + Shown(key.max); }
  std::string Shown(double bound) const {
    const bool duration = std::holds_alternative<FieldOf<milliseconds>>(key.field) ||
                          std::holds_alternative<FieldOf<std::optional<milliseconds>>>(key.field);
    const auto whole = static_cast<std::int64_t>(bound);
    return duration ? DurationText(milliseconds(whole)) : key.is_size ? SizeText(whole) : Plain(bound);
  }
};

std::string Got(const Key& key, const Raw& raw) {
  constexpr std::size_t kMaxShownBytes = 80;
  if (raw.kind == Raw::Kind::kNull) return "nothing";
  if (raw.kind == Raw::Kind::kMap) return "a mapping";
  if (raw.kind == Raw::Kind::kList && !IsList(key)) return "a list";
  if (key.is_secret) return "something else";
  std::string shown = raw.text;
  for (const std::string& item : raw.items) shown += (shown.empty() ? "" : ", ") + item;
  if (shown.find("://") != std::string::npos) {
    // A URL may contain a password, even in a key that should not have one.
    if (const auto at = shown.rfind('@'); at != std::string::npos) shown = "..." + shown.substr(at);
  }
  shown = ShortLine(shown, kMaxShownBytes);
  const bool text = std::holds_alternative<FieldOf<std::string>>(key.field) || raw.kind == Raw::Kind::kQuoted;
  if (text && raw.kind == Raw::Kind::kQuoted && !std::holds_alternative<FieldOf<std::string>>(key.field)) {
    return "the text \"" + shown + "\"";
  }
  return "\"" + shown + "\"";
}

}  // namespace

std::optional<milliseconds> ParseDuration(std::string_view text) {
  std::int64_t total = 0;
  do {
    const auto part = TakeQuantity(text, kDurations);
    if (!part || *part > std::numeric_limits<std::int64_t>::max() - total) return std::nullopt;
    total += *part;
  } while (!text.empty());
  return milliseconds(total);
}

std::optional<std::int64_t> ParseSize(std::string_view text) {
  const auto size = TakeQuantity(text, kSizes);
  return text.empty() ? size : std::nullopt;
}

std::optional<std::string> SetField(const Key& key, const Raw& raw, Settings& settings) {
  const auto expected = std::visit(Setter{key, raw, settings}, key.field);
  if (!expected) return std::nullopt;
  return "expected " + *expected + ", got " + Got(key, raw);
}

}  // namespace breakwatch::config
