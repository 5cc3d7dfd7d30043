#include "breakwatch/core/trend_query.h"

#include <vector>

#include "breakwatch/core/family.h"
#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

// Parses one query; `prefix_` stands before each name in its errors.
class Parser {
 public:
  Parser(const TrendQuery& query, std::string_view prefix) : query_(query), prefix_(prefix) {}

  Result<TrendFilter> Parse() {
    filter_.toolchain = query_.toolchain;
    for (const auto step : {&Parser::SetScope, &Parser::SetDays, &Parser::SetFamily, &Parser::SetReason}) {
      if (auto set = (this->*step)(); !set) return set.error();
    }
    return filter_;
  }

 private:
  Error Usage(const std::string& message) const { return {ErrorCode::kUsage, message}; }
  std::string Named(const char* name) const { return std::string(prefix_) + name; }

  Result<void> SetScope() {
    const auto by = ParseTrendScope(query_.by);
    if (!by) return Usage(Named("by") + ": expected all, family or reason");
    filter_.by = *by;
    return {};
  }

  Result<std::optional<Day>> DayOf(const char* name, const std::string& text) const {
    if (text.empty()) return std::optional<Day>();
    const auto day = ParseDay(text);
    if (day) return day;
    return Usage(Named(name) + ": \"" + text + "\" is no day; expected the form 2026-03-01");
  }

  Result<void> SetDays() {
    const auto since = DayOf("since", query_.since), until = DayOf("until", query_.until);
    if (!since) return since.error();
    if (!until) return until.error();
    filter_.since = *since, filter_.until = *until;
    if (filter_.since && filter_.until && *filter_.since > *filter_.until)
      return Usage(Named("since ") + query_.since + " is after " + Named("until ") + query_.until);
    return {};
  }

  Result<void> Select(TrendScope scope) {
    if (filter_.by != TrendScope::kAll && filter_.by != scope)
      return Usage(Named("by") + ", " + Named("family") + " and " + Named("reason") +
                   " select different series; give one of them");
    filter_.by = scope;
    return {};
  }

  Result<void> SetFamily() {
    if (query_.family.empty()) return {};
    filter_.name = query_.family;
    if (ParseFamily(query_.family)) return Select(TrendScope::kFamily);
    std::vector<std::string> names;
    for (const Family family : AllFamilies()) names.emplace_back(FamilyName(family));
    const auto nearest = NearestName(query_.family, names);
    return Usage("unknown family \"" + query_.family + "\"; " +
                 (nearest ? "did you mean \"" + *nearest + "\"?" : "expected " + Joined(names)));
  }

  // "GB0170" or "gb0170": an id; no text of Dynamo looks like this.
  static bool IsReasonId(std::string_view text) {
    return text.size() > 2 && Lower(text.substr(0, 2)) == "gb" &&
           text.find_first_not_of("0123456789", 2) == std::string_view::npos;
  }

  Result<void> SetReason() {
    if (query_.reason.empty()) return {};
    if (auto selected = Select(TrendScope::kReason); !selected) return selected;
    if (IsReasonId(query_.reason))
      filter_.gb_id = "GB" + query_.reason.substr(2);
    else
      filter_.name = query_.reason;
    return {};
  }

  const TrendQuery& query_;
  std::string_view prefix_;
  TrendFilter filter_;
};

}  // namespace

Result<TrendFilter> ParseTrendQuery(const TrendQuery& query, std::string_view prefix) {
  return Parser(query, prefix).Parse();
}

}  // namespace breakwatch
