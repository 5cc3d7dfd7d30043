#include "breakwatch/report/stream.h"

#include <algorithm>
#include <utility>

#include "breakwatch/core/json.h"
#include "document.h"
#include "escape.h"
#include "formats.h"
#include "sweep_totals.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

constexpr std::string_view kNoResults = "\"results\": []";
constexpr std::string_view kInResults = "    ";  // the indent of an element of the document's array

Result<Gathered> Gather(const EachResult& each) {
  Gathered gathered;
  auto read = each([&](const ModelResult& result) -> Result<void> {
    gathered.Add(result);
    return {};
  });
  if (!read) return read.error();
  return gathered;
}

// As an element of the array: each line has the array's indent. Texts have no line ends in JSON.
std::string Element(const ModelResult& result) {
  std::string text = Dump(Json::parse(ToJson(result), nullptr, false)), indented;
  text.pop_back();  // its own line end
  indented.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    indented.append(kInResults).append(text, at, end - at + 1);
    at = end + 1;
  }
  return indented;
}

Result<void> StreamJson(const StreamedSweep& sweep, const TextSink& sink) {
  // The frame is known only at the end, but its beginning does not depend on the results.
  const auto frame_of = [&](const SweepTotals& totals) { return SweepFrame(sweep, totals); };
  SweepTotals totals;
  const std::string empty = frame_of(totals);
  const std::size_t place = empty.find(kNoResults) + kNoResults.size() - 1;
  sink(std::string_view(empty).substr(0, place));
  bool any = false;
  auto read = sweep.each([&](const ModelResult& result) -> Result<void> {
    totals.Add(result);
    sink(std::exchange(any, true) ? ",\n" : "\n");
    sink(Element(result));
    return {};
  });
  if (!read) return read;
  if (any) sink("\n  ");
  const std::string whole = frame_of(totals);
  sink(std::string_view(whole).substr(place));
  return {};
}

}  // namespace

EachResult EachOf(std::span<const ModelResult> results) {
  return [results](const UseResult& use) -> Result<void> {
    for (const ModelResult& result : results) {
      if (auto used = use(result); !used) return used;
    }
    return {};
  };
}

bool ComparesNoResults(const Sweep& sweep) {
  // A model that was skipped before its modes were planned has none.
  const auto modes =
      std::count_if(sweep.modes.begin(), sweep.modes.end(), [](const auto& mode) { return !mode.first.empty(); });
  return sweep.state == SweepState::kFinished && modes < 2;
}

bool CanStream(Format format, const Sweep& sweep) {
  const bool known =
      format == Format::kText || format == Format::kJson || format == Format::kMarkdown || format == Format::kCsv;
  return known && ComparesNoResults(sweep);
}

Result<void> StreamSweep(const StreamedSweep& sweep, Format format, Style style, const TextSink& sink) {
  if (format == Format::kJson) return StreamJson(sweep, sink);
  auto gathered = Gather(sweep.each);
  if (!gathered) return gathered.error();
  if (format == Format::kMarkdown) {
    sink(Markdown(DocumentOf(sweep, *std::move(gathered))));
    return {};
  }
  sink(Render(ResultTableOf(gathered->totals, gathered->rows.All()), format, style));
  if (format == Format::kText) sink(TextAfterModels(sweep, gathered->totals, style));
  return {};
}

Result<Table> ReasonTable(const EachResult& each, ReasonOrder order, std::size_t limit,
                          std::span<const ModelResult> tried) {
  SweepTotals totals;
  for (const ModelResult& result : tried) totals.AddTried(result);
  auto read = each([&](const ModelResult& result) -> Result<void> {
    totals.Add(result);
    return {};
  });
  if (!read) return read.error();
  return totals.Reasons(order, limit);
}

}  // namespace breakwatch::report
