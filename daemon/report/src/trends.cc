#include "breakwatch/report/trends.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "breakwatch/core/text.h"
#include "trend_columns.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kSparklineWidth = 24;
constexpr std::size_t kReasonWidth = 48;

std::optional<double> Share(const TrendNumbers& numbers) {
  if (numbers.models_with_numbers == 0) return std::nullopt;
  return static_cast<double>(numbers.full_graph) / static_cast<double>(numbers.models_with_numbers);
}

Cell Maybe(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }
Cell Percent(const std::optional<double>& share) { return share ? Cell(100 * *share) : Cell(); }

std::vector<Column> NameColumns(TrendScope by) {
  switch (by) {
    case TrendScope::kFamily:
      return {{"family", "FAMILY"}};
    case TrendScope::kReason:
      return {{"reason", "REASON", false, kReasonWidth}, {"gb_id", "ID"}};
    case TrendScope::kAll:
      break;
  }
  return {};
}

void AddNames(const TrendRow& row, TrendScope by, std::vector<Cell>& cells) {
  if (by != TrendScope::kAll) cells.emplace_back(row.name);
  if (by == TrendScope::kReason) cells.emplace_back(row.gb_id);
}

template <std::int64_t TrendNumbers::*kNumber>
Cell Number(const TrendNumbers& numbers) {
  return numbers.*kNumber;
}
constexpr TrendColumn kOfModels[] = {
    {"models_tracked", "TRACKED", Number<&TrendNumbers::models_tracked>},
    {"models_with_numbers", "WITH NUMBERS", Number<&TrendNumbers::models_with_numbers>},
    {"full_graph", "FULL GRAPH", Number<&TrendNumbers::full_graph>},
    {"full_graph_share", "", [](const TrendNumbers& n) { return Maybe(Share(n)); }},
    {"models", "WITH BREAKS", Number<&TrendNumbers::models>},
    {"breaks", "BREAKS", Number<&TrendNumbers::breaks>},
    {"break_sites", "SITES", Number<&TrendNumbers::break_sites>},
    {"fixed", "FIXED", Number<&TrendNumbers::fixed>},
    {"broken", "BROKEN", Number<&TrendNumbers::broken>},
    {"breaks_change", "", Number<&TrendNumbers::breaks_change>},
    {"came", "CAME", Number<&TrendNumbers::came>},
    {"came_full_graph", "", Number<&TrendNumbers::came_full_graph>},
    {"departed", "DEPARTED", Number<&TrendNumbers::departed>},
    {"departed_full_graph", "", Number<&TrendNumbers::departed_full_graph>},
};
constexpr TrendColumn kOfReasons[] = {
    {"models_tracked", "", Number<&TrendNumbers::models_tracked>},
    {"models_with_numbers", "WITH NUMBERS", Number<&TrendNumbers::models_with_numbers>},
    {"models", "MODELS", Number<&TrendNumbers::models>},
    {"breaks", "BREAKS", Number<&TrendNumbers::breaks>},
    {"break_sites", "SITES", Number<&TrendNumbers::break_sites>},
    {"leverage", "UNBLOCKED", Number<&TrendNumbers::leverage>},
};

std::string WhenEmpty() {
  return "no trends: they begin with the next sweep, or `breakwatch store rebuild` computes them from the stored "
         "results";
}

// A series with its numbers by the position of the day; null where it has none.
struct Series {
  TrendRow row;
  std::vector<const TrendNumbers*> days;

  const TrendNumbers& First() const {
    return **std::find_if(days.begin(), days.end(), [](const auto* day) { return day != nullptr; });
  }
  // Of the newest day: nothing is left of a family or reason that it does not have.
  TrendNumbers Last() const { return days.back() == nullptr ? TrendNumbers{} : *days.back(); }
  // The change between the first day and the others, which excludes that of the first day itself.
  std::int64_t Sum(std::int64_t TrendNumbers::*number) const {
    std::int64_t sum = 0;
    for (std::size_t i = 1; i < days.size(); ++i) sum += days[i] == nullptr ? 0 : days[i]->*number;
    return sum;
  }
  std::string Draw(std::optional<double> (*value)(const TrendNumbers&)) const {
    std::vector<std::optional<double>> values;
    for (const TrendNumbers* day : days) values.push_back(value(day == nullptr ? TrendNumbers{} : *day));
    return Sparkline(values, kSparklineWidth);
  }
};

std::vector<Series> SeriesOf(std::span<const TrendFold> folds) {
  std::map<std::pair<std::string, std::string>, Series> found;
  for (std::size_t day = 0; day < folds.size(); ++day) {
    for (const TrendRow& row : folds[day].rows) {
      Series& series = found[{row.name, row.gb_id}];
      series.row = row;
      series.days.resize(folds.size());
      series.days[day] = &row.numbers;
    }
  }
  std::vector<Series> all;
  for (auto& [key, series] : found) all.push_back(std::move(series));
  return all;
}

void AddModels(const Series& series, bool draw, std::vector<Cell>& cells) {
  const TrendNumbers first = series.First(), last = series.Last();
  const auto before = Share(first), now = Share(last);
  cells.insert(cells.end(), {last.models_tracked, last.models_with_numbers, Percent(before), Percent(now),
                             before && now ? Cell(100 * (*now - *before)) : Cell(), last.breaks});
  for (const auto number : {&TrendNumbers::fixed, &TrendNumbers::broken, &TrendNumbers::came, &TrendNumbers::departed})
    cells.emplace_back(series.Sum(number));
  if (draw) cells.emplace_back(series.Draw(Share));
}

void AddReason(const Series& series, bool draw, std::vector<Cell>& cells) {
  const TrendNumbers first = series.days.front() == nullptr ? TrendNumbers{} : *series.days.front();
  const TrendNumbers last = series.Last();
  cells.insert(cells.end(), {first.models, last.models, last.models - first.models, last.breaks, last.leverage});
  const auto models = [](const TrendNumbers& numbers) { return std::optional(static_cast<double>(numbers.models)); };
  if (draw) cells.emplace_back(series.Draw(models));
}

std::vector<Column> SummaryColumns(TrendScope by, bool draw) {
  std::vector<Column> columns = NameColumns(by);
  const auto add = [&](const char* name, const char* title) { columns.push_back({name, title, /*right=*/true}); };
  if (by == TrendScope::kReason) {
    add("models_first", "MODELS THEN"), add("models_last", "NOW"), add("models_change", "CHANGE");
    add("breaks", "BREAKS"), add("leverage", "UNBLOCKED");
  } else {
    add("models_tracked", "TRACKED"), add("models_with_numbers", "WITH NUMBERS");
    add("full_graph_first", "FULL GRAPH % THEN"), add("full_graph_last", "NOW"), add("full_graph_change", "CHANGE");
    add("breaks", "BREAKS"), add("fixed", "FIXED"), add("broken", "BROKEN"), add("came", "CAME");
    add("departed", "DEPARTED");
  }
  if (draw) columns.push_back({"trend", by == TrendScope::kReason ? "MODELS" : "FULL GRAPH"});
  return columns;
}

}  // namespace

std::span<const TrendColumn> TrendColumns(TrendScope by) {
  return by == TrendScope::kReason ? std::span<const TrendColumn>(kOfReasons) : std::span<const TrendColumn>(kOfModels);
}

Table TrendTable(std::span<const TrendFold> folds, TrendScope by) {
  Table table{.title = "", .columns = {{"day", "DAY"}}, .rows = {}, .when_empty = WhenEmpty()};
  for (Column& column : NameColumns(by)) table.columns.push_back(std::move(column));
  for (const char* name : {"toolchain", "mode", "sweep_id"}) table.columns.push_back({name, ""});
  for (const TrendColumn& shown : TrendColumns(by)) table.columns.push_back({shown.name, shown.title, /*right=*/true});
  for (const TrendFold& fold : folds) {
    for (const TrendRow& row : fold.rows) {
      std::vector<Cell> cells{FormatDay(fold.day)};
      AddNames(row, by, cells);
      for (const std::string& text : {fold.toolchain, fold.mode, fold.sweep_id}) cells.emplace_back(text);
      for (const TrendColumn& shown : TrendColumns(by)) cells.push_back(shown.cell(row.numbers));
      table.rows.push_back(std::move(cells));
    }
  }
  return table;
}

Table TrendSummary(std::span<const TrendFold> folds, TrendScope by, bool draw) {
  Table table{.title = "", .columns = SummaryColumns(by, draw), .rows = {}, .when_empty = WhenEmpty()};
  if (folds.empty()) return table;
  table.title = FormatDay(folds.front().day) + " to " + FormatDay(folds.back().day) + ", " +
                Counted(folds.size(), "day") + " with a sweep";
  table.when_empty = "no tracked model had this family or reason on these days";
  std::vector<Series> all = SeriesOf(folds);
  if (by == TrendScope::kReason)
    std::stable_sort(all.begin(), all.end(),
                     [](const Series& a, const Series& b) { return a.Last().models > b.Last().models; });
  for (const Series& series : all) {
    std::vector<Cell> cells;
    AddNames(series.row, by, cells);
    by == TrendScope::kReason ? AddReason(series, draw, cells) : AddModels(series, draw, cells);
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string Sparkline(std::span<const std::optional<double>> values, std::size_t width) {
  static constexpr const char* kBlocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr int kHighest = 7, kMiddle = 3;
  const std::size_t count = std::min(values.size(), width);
  std::vector<std::optional<double>> drawn;
  for (std::size_t i = 0; i < count; ++i) drawn.push_back(values[(i + 1) * values.size() / count - 1]);
  std::optional<double> low, high;
  for (const auto& value : drawn) {
    if (!value) continue;
    low = std::min(low.value_or(*value), *value);
    high = std::max(high.value_or(*value), *value);
  }
  std::string line;
  for (const auto& value : drawn) {
    const int step =
        !value || high == low ? kMiddle : static_cast<int>((*value - *low) / (*high - *low) * kHighest + 0.5);
    line += value ? kBlocks[step] : " ";
  }
  return line;
}

}  // namespace breakwatch::report
