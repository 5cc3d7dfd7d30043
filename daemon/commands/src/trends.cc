// The commands of trends: `trends` and `store export`.
#include "breakwatch/report/trends.h"

#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "breakwatch/core/openmetrics.h"
#include "breakwatch/core/text.h"
#include "breakwatch/core/trend_query.h"
#include "commands.h"

namespace breakwatch::commands {
namespace {

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

// A day in the future is there only because the clock was wrong once: it would count as the newest.
void LeaveOutTheFuture(const App& app, TrendFilter& filter) {
  if (!filter.until) filter.until = DayOf(app.clock->Now());
}

std::string NoSuchTrends(const TrendQuery& query) {
  std::string text = "no trends";
  if (!query.since.empty()) text += " since " + query.since;
  if (!query.until.empty()) text += " until " + query.until;
  return query.toolchain.empty() ? text : text + " by toolchain " + query.toolchain;
}

}  // namespace

int RunTrends(App& app, const TrendsOptions& options) {
  const auto format = report::ParseFormat(app.json ? "json" : options.format);
  if (!format) return Fail(app, {ErrorCode::kUsage, "--format: expected text, md, csv or json"});
  auto filter = ParseTrendQuery(options.query, "--");
  if (!filter) return Fail(app, filter.error());
  LeaveOutTheFuture(app, *filter);
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  auto folds = (*store)->ReadTrends(*filter);
  if (!folds) return Fail(app, folds.error());
  const bool daily = options.daily || *format == report::Format::kCsv || *format == report::Format::kJson;
  const report::Style style = StyleOf(app);
  if (!daily) folds = report::NewestOfEachDay(*std::move(folds));
  const bool draw = *format == report::Format::kText && options.output.empty() && CanDraw(style);
  report::Table table = daily ? report::TrendTable(*folds, filter->by) : report::TrendSummary(*folds, filter->by, draw);
  if (folds->empty() && NoSuchTrends(options.query) != NoSuchTrends({})) table.when_empty = NoSuchTrends(options.query);
  return Write(app, options.output, report::Render(table, *format, style));
}

int RunStoreExport(App& app, const TrendsOptions& options) {
  auto filter = ParseTrendQuery(options.query, "--");
  if (!filter) return Fail(app, filter.error());
  LeaveOutTheFuture(app, *filter);
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  std::vector<TrendFold> folds;
  for (const TrendScope by : {TrendScope::kAll, TrendScope::kFamily, TrendScope::kReason}) {
    filter->by = by;
    auto read = (*store)->ReadTrends(*filter);
    if (!read) return Fail(app, read.error());
    std::move(read->begin(), read->end(), std::back_inserter(folds));
  }
  const auto& target = app.settings().exporters.pushgateway;
  std::string text;
  WriteOpenMetrics(folds, {target.job, target.pool}, [&](std::string_view chunk) { text.append(chunk); });
  return Write(app, options.output, text);
}

}  // namespace breakwatch::commands
