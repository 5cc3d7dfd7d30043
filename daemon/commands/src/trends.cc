// The commands of trends: `trends` and `store export`.
#include "breakwatch/report/trends.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "breakwatch/core/family.h"
#include "breakwatch/core/openmetrics.h"
#include "breakwatch/core/text.h"
#include "commands.h"

namespace breakwatch::commands {
namespace {

Result<std::optional<Day>> DayOption(const char* option, const std::string& text) {
  if (text.empty()) return std::optional<Day>();
  const auto day = ParseDay(text);
  if (day) return day;
  return Error{ErrorCode::kUsage, std::string(option) + ": \"" + text + "\" is no day; expected the form 2026-03-01"};
}

Result<void> SetDays(const TrendsOptions& options, store::TrendFilter& filter) {
  const auto since = DayOption("--since", options.since), until = DayOption("--until", options.until);
  if (!since) return since.error();
  if (!until) return until.error();
  filter.since = *since, filter.until = *until;
  if (filter.since && filter.until && *filter.since > *filter.until)
    return Error{ErrorCode::kUsage, "--since " + options.since + " is after --until " + options.until};
  return {};
}

Result<void> CheckFamily(const std::string& name) {
  if (ParseFamily(name)) return {};
  std::vector<std::string> names;
  for (const Family family : AllFamilies()) names.emplace_back(FamilyName(family));
  const auto nearest = NearestName(name, names);
  return Error{ErrorCode::kUsage, "unknown family \"" + name + "\"; " +
                                      (nearest ? "did you mean \"" + *nearest + "\"?" : "expected " + Joined(names))};
}

// "GB0170": an id; no text of Dynamo looks like this.
bool IsReasonId(std::string_view text) {
  return text.size() > 2 && text.starts_with("GB") && text.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

Result<store::TrendFilter> FilterOf(const TrendsOptions& options) {
  store::TrendFilter filter{.by = ParseTrendScope(options.by).value_or(TrendScope::kAll)};
  if (auto set = SetDays(options, filter); !set) return set.error();
  // A family or a reason also selects the scope.
  const auto select = [&](const std::string& text, TrendScope scope) -> Result<void> {
    if (text.empty()) return {};
    if (filter.by != TrendScope::kAll && filter.by != scope)
      return Error{ErrorCode::kUsage, "--by, --family and --reason select different series; give one of them"};
    filter.by = scope;
    (scope == TrendScope::kReason && IsReasonId(text) ? filter.gb_id : filter.name) = text;
    return {};
  };
  if (auto family = select(options.family, TrendScope::kFamily); !family) return family.error();
  if (auto reason = select(options.reason, TrendScope::kReason); !reason) return reason.error();
  if (!options.family.empty()) {
    if (auto known = CheckFamily(options.family); !known) return known.error();
  }
  filter.toolchain = options.toolchain;
  return filter;
}

// A terminal that shows the block characters of a sparkline.
bool CanDraw(const report::Style& style) {
  if (style.width == 0) return false;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* locale = std::getenv(name);
    if (locale == nullptr || *locale == '\0') continue;
    const std::string lower = Lower(locale);
    return lower.find("utf-8") != std::string::npos || lower.find("utf8") != std::string::npos;
  }
  return false;
}

// A toolchain's name may select several versions on one day. The summary needs one fold a day: the one of the newest
// sweep.
void KeepNewestOfEachDay(std::vector<TrendFold>& folds) {
  std::stable_sort(folds.begin(), folds.end(), [](const TrendFold& a, const TrendFold& b) { return a.at < b.at; });
  const auto same_day = [](const TrendFold& a, const TrendFold& b) { return a.day == b.day; };
  folds.erase(folds.begin(), std::unique(folds.rbegin(), folds.rend(), same_day).base());
}

}  // namespace

int RunTrends(App& app, const TrendsOptions& options) {
  const auto format = report::ParseFormat(app.json ? "json" : options.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format: expected text, md, csv or json"});
  const auto filter = FilterOf(options);
  if (!filter) return Fail(app, filter.error());
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  auto folds = (*store)->ReadTrends(*filter);
  if (!folds) return Fail(app, folds.error());
  const bool daily = options.daily || *format == report::Format::kCsv || *format == report::Format::kJson;
  const report::Style style = StyleOf(app);
  if (!daily) KeepNewestOfEachDay(*folds);
  const bool draw = *format == report::Format::kText && options.output.empty() && CanDraw(style);
  const report::Table table =
      daily ? report::TrendTable(*folds, filter->by) : report::TrendSummary(*folds, filter->by, draw);
  return Write(app, options.output, report::Render(table, *format, style));
}

int RunStoreExport(App& app, const TrendsOptions& options) {
  store::TrendFilter filter;
  if (auto set = SetDays(options, filter); !set) return Fail(app, set.error());
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  std::vector<TrendFold> folds;
  for (const TrendScope by : {TrendScope::kAll, TrendScope::kFamily, TrendScope::kReason}) {
    filter.by = by;
    auto read = (*store)->ReadTrends(filter);
    if (!read) return Fail(app, read.error());
    std::move(read->begin(), read->end(), std::back_inserter(folds));
  }
  const auto& target = app.settings().exporters.pushgateway;
  std::string text;
  WriteOpenMetrics(folds, {target.job, target.pool}, [&](std::string_view chunk) { text.append(chunk); });
  return Write(app, options.output, text);
}

}  // namespace breakwatch::commands
