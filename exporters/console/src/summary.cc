#include "summary.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "breakwatch/core/printable.h"
#include "breakwatch/core/text.h"

namespace breakwatch::exporters {
namespace {

struct Totals {
  std::int64_t tracked = 0, with_numbers = 0, whole = 0, breaks = 0, sites = 0;

  void Add(const Numbers* numbers) {
    ++tracked;
    if (numbers == nullptr) return;
    ++with_numbers;
    whole += numbers->reasons.empty();
    for (const ReasonCount& reason : numbers->reasons) {
      breaks += reason.events;
      sites += reason.sites;
    }
  }
};

struct ReasonTotals {
  std::int64_t models = 0, breaks = 0;
};

template <class... Args>
std::string Format(const char* format, Args... args) {
  char line[400];
  const int length = std::snprintf(line, sizeof line, format, args...);
  return {line, line + std::clamp<int>(length, 0, sizeof line - 1)};
}

std::string FamilyLine(const std::string& name, const Totals& totals) {
  return Format("%-22s %8lld %12lld %11lld %8lld %8lld\n", name.c_str(), static_cast<long long>(totals.tracked),
                static_cast<long long>(totals.with_numbers), static_cast<long long>(totals.whole),
                static_cast<long long>(totals.breaks), static_cast<long long>(totals.sites));
}

// Control characters in a reason must not move the terminal's cursor.
std::string ShortReason(std::string_view text) {
  return Truncate(Printable(ToUtf8(text.substr(0, 480)), Lines::kEscape), 120);
}

std::string TopReasons(const std::map<std::string, ReasonTotals>& reasons, int top) {
  std::vector<std::pair<std::string, ReasonTotals>> sorted(reasons.begin(), reasons.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.breaks > b.second.breaks; });
  if (sorted.size() > static_cast<std::size_t>(std::max(top, 0)))
    sorted.resize(static_cast<std::size_t>(std::max(top, 0)));
  std::string text;
  if (!sorted.empty()) text += Format("%8s %8s  %s\n", "breaks", "models", "reason");
  for (const auto& [reason, totals] : sorted) {
    text += Format("%8lld %8lld  %s\n", static_cast<long long>(totals.breaks), static_cast<long long>(totals.models),
                   ShortReason(reason).c_str());
  }
  return text;
}

}  // namespace

std::string Summary(const Snapshot& snapshot, int top_reasons) {
  std::map<Family, Totals> families;
  std::map<std::string, ReasonTotals> reasons;
  Totals all;
  for (const TrackedModel& model : snapshot.models) {
    const Numbers* numbers = snapshot.NumbersOf(model);
    families[model.family].Add(numbers);
    all.Add(numbers);
    if (numbers == nullptr) continue;
    for (const ReasonCount& reason : numbers->reasons) {
      ReasonTotals& totals = reasons[reason.gb_id.empty() ? reason.reason : reason.reason + " (" + reason.gb_id + ")"];
      ++totals.models;
      totals.breaks += reason.events;
    }
  }
  std::string text =
      Format("%-22s %8s %12s %11s %8s %8s\n", "family", "models", "with numbers", "full graph", "breaks", "sites");
  for (const auto& [family, totals] : families) text += FamilyLine(std::string(FamilyName(family)), totals);
  return text + FamilyLine("all", all) + TopReasons(reasons, top_reasons);
}

}  // namespace breakwatch::exporters
