#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "breakwatch/report/trends.h"
#include "table_json.h"
#include "trend_columns.h"

namespace breakwatch::report {
namespace {

using Key = std::tuple<TrendScope, std::string, std::string>;  // scope, name, gb_id

Key KeyOf(const TrendRow& row) { return {row.scope, row.name, row.gb_id}; }

// The state of the last fold with the changes of all.
TrendFold EndOf(std::span<const TrendFold> part) {
  std::map<Key, TrendNumbers> sums;
  for (const TrendFold& fold : part) {
    for (const TrendRow& row : fold.rows) {
      TrendNumbers& sum = sums[KeyOf(row)];
      for (const TrendField& field : kTrendFields) {
        if (field.adds_up)
          sum.*field.value += row.numbers.*field.value;
        else if (&fold == &part.back())
          sum.*field.value = row.numbers.*field.value;
      }
    }
  }
  TrendFold end = part.back();
  end.rows.clear();
  for (auto& [key, numbers] : sums)
    end.rows.push_back({std::get<TrendScope>(key), std::get<1>(key), std::get<2>(key), numbers});
  return end;
}

struct Series {
  Key key;
  std::int64_t models = 0;  // at the last point
  Json points = Json::array();
};

Json PointOf(Day day, const TrendRow& row) {
  Table point{.title = "", .columns = {{"day", ""}}, .rows = {{FormatDay(day)}}, .when_empty = ""};
  for (const TrendColumn& column : TrendColumns(row.scope)) {
    point.columns.push_back({column.name, ""});
    point.rows[0].push_back(column.cell(row.numbers));
  }
  return RowsAsJson(point)[0];
}

std::vector<Series> SeriesOf(std::span<const TrendFold> folds) {
  std::map<Key, Series> found;
  for (const TrendFold& fold : folds) {
    for (const TrendRow& row : fold.rows) {
      Series& series = found[KeyOf(row)];
      series.points.push_back(PointOf(fold.day, row));
      series.models = &fold == &folds.back() ? row.numbers.models : 0;
    }
  }
  std::vector<Series> all;
  for (auto& [key, series] : found) all.push_back({key, series.models, std::move(series.points)});
  return all;
}

Json AsJson(Series& series) {
  const auto& [scope, name, gb_id] = series.key;
  Json json = Json::object();
  if (scope != TrendScope::kAll) json[std::string(TrendScopeName(scope))] = name;
  if (scope == TrendScope::kReason) json["gb_id"] = gb_id;
  json["points"] = std::move(series.points);
  return json;
}

Json DayOrNull(const std::optional<Day>& day) { return day ? Json(FormatDay(*day)) : Json(); }

}  // namespace

std::vector<TrendFold> NewestOfEachDay(std::vector<TrendFold> folds) {
  std::stable_sort(folds.begin(), folds.end(), [](const TrendFold& a, const TrendFold& b) { return a.at < b.at; });
  const auto same_day = [](const TrendFold& a, const TrendFold& b) { return a.day == b.day; };
  folds.erase(folds.begin(), std::unique(folds.rbegin(), folds.rend(), same_day).base());
  return folds;
}

std::vector<TrendFold> ThinnedOut(std::span<const TrendFold> folds, std::size_t most) {
  const std::size_t parts = std::min(folds.size(), most);
  std::vector<TrendFold> ends;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t begin = i * folds.size() / parts, end = (i + 1) * folds.size() / parts;
    ends.push_back(EndOf(folds.subspan(begin, end - begin)));
  }
  return ends;
}

std::string TrendDocument(const std::vector<TrendFold>& folds, const TrendFilter& filter, TrendBounds bounds) {
  const std::vector<TrendFold> drawn = ThinnedOut(NewestOfEachDay(folds), bounds.points);
  std::vector<Series> all = SeriesOf(drawn);
  if (filter.by == TrendScope::kReason)
    std::stable_sort(all.begin(), all.end(), [](const Series& a, const Series& b) { return a.models > b.models; });
  const std::size_t kept = std::min(all.size(), bounds.series);
  Json document{{"by", TrendScopeName(filter.by)},  {"since", DayOrNull(filter.since)},
                {"until", DayOrNull(filter.until)}, {"toolchain", drawn.empty() ? "" : drawn.back().toolchain},
                {"series", Json::array()},          {"series_left_out", all.size() - kept}};
  for (std::size_t i = 0; i < kept; ++i) document["series"].push_back(AsJson(all[i]));
  return Dump(document);
}

}  // namespace breakwatch::report
