#include "breakwatch/core/trend.h"

#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

constexpr std::string_view kScopes[] = {"all", "family", "reason"};
constexpr std::size_t kDayBytes = 10;  // "2026-03-01"

}  // namespace

Day DayOf(SystemTime time) { return std::chrono::floor<std::chrono::days>(time); }

std::string FormatDay(Day day) { return FormatTime(day).substr(0, kDayBytes); }

std::optional<Day> ParseDay(std::string_view text) {
  // The years that nanoseconds since 1970 can express.
  if (text.size() != kDayBytes || text < "1970" || text >= "2262") return std::nullopt;
  std::string begin(text);
  const auto midnight = ParseTime(begin.append("T00:00:00Z"));
  return midnight ? std::optional(DayOf(*midnight)) : std::nullopt;
}

std::string_view TrendScopeName(TrendScope scope) { return kScopes[static_cast<std::size_t>(scope)]; }

std::optional<TrendScope> ParseTrendScope(std::string_view name) {
  for (const TrendScope scope : {TrendScope::kAll, TrendScope::kFamily, TrendScope::kReason}) {
    if (TrendScopeName(scope) == name) return scope;
  }
  return std::nullopt;
}

}  // namespace breakwatch
