#include "trend_fold.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "breakwatch/core/family.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch::engine {
namespace {

using nlohmann::json;

// The reasons kept for each day: those of the most models. Dynamo's registry has fewer.
constexpr std::size_t kMaxReasons = 500;
constexpr std::size_t kMaxReasonBytes = 120, kMaxIdBytes = 20;  // as in the labels of metrics

using ReasonKey = std::pair<std::string, std::string>;  // reason, gb_id

std::int64_t BreaksOf(const Numbers& numbers) {
  std::int64_t breaks = 0;
  for (const ReasonCount& reason : numbers.reasons) breaks += reason.events;
  return breaks;
}

const Numbers* NumbersBy(const TrackedModel& model, const std::string& toolchain) {
  const auto it = model.numbers.find(toolchain);
  return it == model.numbers.end() ? nullptr : &it->second;
}

void AddModel(const Numbers* numbers, TrendNumbers& sum) {
  ++sum.models_tracked;
  if (numbers == nullptr) return;
  ++sum.models_with_numbers;
  const std::int64_t breaks = BreaksOf(*numbers);
  ++(breaks == 0 ? sum.full_graph : sum.models);
  sum.breaks += breaks;
  for (const ReasonCount& reason : numbers->reasons) sum.break_sites += reason.sites;
}

// Two reasons that are equal after they are cut count as one reason, once for each model.
void AddReasons(const Numbers& numbers, std::map<ReasonKey, TrendNumbers>& reasons) {
  std::map<ReasonKey, TrendNumbers> of_model;
  for (const ReasonCount& reason : numbers.reasons) {
    TrendNumbers& sum =
        of_model[{Truncate(ToUtf8(reason.reason), kMaxReasonBytes), Truncate(ToUtf8(reason.gb_id), kMaxIdBytes)}];
    sum.breaks += reason.events;
    sum.break_sites += reason.sites;
  }
  for (const auto& [key, sum] : of_model) {
    TrendNumbers& total = reasons[key];
    total.breaks += sum.breaks;
    total.break_sites += sum.break_sites;
    total.models += sum.breaks > 0 ? 1 : 0;
    total.leverage += numbers.reasons.size() == 1 ? 1 : 0;
  }
}

std::vector<TrendRow> ReasonRows(const std::map<ReasonKey, TrendNumbers>& reasons, const TrendNumbers& all) {
  std::vector<TrendRow> rows;
  for (const auto& [key, numbers] : reasons) {
    rows.push_back({TrendScope::kReason, key.first, key.second, numbers});
    rows.back().numbers.models_tracked = all.models_tracked;
    rows.back().numbers.models_with_numbers = all.models_with_numbers;
  }
  if (rows.size() <= kMaxReasons) return rows;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const TrendRow& a, const TrendRow& b) { return a.numbers.models > b.numbers.models; });
  rows.resize(kMaxReasons);
  std::sort(rows.begin(), rows.end(),
            [](const TrendRow& a, const TrendRow& b) { return std::tie(a.name, a.gb_id) < std::tie(b.name, b.gb_id); });
  return rows;
}

// The row of all models, or of a family; created if missing.
TrendNumbers& RowOf(std::vector<TrendRow>& rows, TrendScope scope, const std::string& name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const TrendRow& row) {
    return std::tie(row.scope, row.name) >= std::tie(scope, name);
  });
  if (at != rows.end() && at->scope == scope && at->name == name) return at->numbers;
  return rows.insert(at, {scope, name, "", {}})->numbers;
}

// Null: the model had no numbers then, or was of another family.
void AddChange(const TrendModel* before, const TrendModel* now, TrendNumbers& sum) {
  if (before == nullptr) {
    ++sum.came;
    sum.came_full_graph += now->breaks == 0 ? 1 : 0;
  } else if (now == nullptr) {
    ++sum.departed;
    sum.departed_full_graph += before->breaks == 0 ? 1 : 0;
  } else {
    sum.breaks_change += now->breaks - before->breaks;
    sum.fixed += before->breaks > 0 && now->breaks == 0 ? 1 : 0;
    sum.broken += before->breaks == 0 && now->breaks > 0 ? 1 : 0;
  }
}

json ModelsJson(const TrendModels& models) {
  json object = json::object();
  for (const auto& [name, model] : models) object[ToUtf8(name)] = {FamilyName(model.family), model.breaks};
  return object;
}

TrendModels ModelsFrom(const json& object) {
  TrendModels models;
  for (const auto& [name, values] : object.items()) {
    const auto family = ParseFamily(values.at(0).get<std::string>());
    models[name] = {family.value_or(Family::kUnknown), values.at(1).get<std::int64_t>()};
  }
  return models;
}

}  // namespace

std::string ToJson(const TrendMemory& memory) {
  json document{{"day", FormatDay(memory.day)}, {"last", ModelsJson(memory.last)}};
  if (memory.before) document["before"] = ModelsJson(*memory.before);
  return JsonText(document);
}

std::optional<TrendMemory> TrendMemoryFromJson(const std::string& text) {
  try {
    const json document = json::parse(text);
    const auto day = ParseDay(document.at("day").get<std::string>());
    if (!day) return std::nullopt;
    TrendMemory memory{*day, ModelsFrom(document.at("last")), std::nullopt};
    if (document.contains("before")) memory.before = ModelsFrom(document.at("before"));
    return memory;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::vector<TrendRow> FoldTrend(const TrackedRows& models, const std::string& toolchain) {
  std::vector<TrendRow> rows{{TrendScope::kAll, "", "", {}}};
  std::map<ReasonKey, TrendNumbers> reasons;
  for (const auto& [name, row] : models) {
    const TrackedModel& model = *row;
    if (!model.tracked) continue;
    const Numbers* numbers = NumbersBy(model, toolchain);
    AddModel(numbers, rows.front().numbers);
    AddModel(numbers, RowOf(rows, TrendScope::kFamily, std::string(FamilyName(model.family))));
    if (numbers != nullptr) AddReasons(*numbers, reasons);
  }
  for (TrendRow& row : ReasonRows(reasons, rows.front().numbers)) rows.push_back(std::move(row));
  return rows;
}

TrendModels TrendModelsOf(const TrackedRows& models, const std::string& toolchain) {
  TrendModels found;
  for (const auto& [name, row] : models) {
    const TrackedModel& model = *row;
    const Numbers* numbers = model.tracked ? NumbersBy(model, toolchain) : nullptr;
    if (numbers != nullptr) found[ToUtf8(name)] = {model.family, BreaksOf(*numbers)};
  }
  return found;
}

void AddTrendChanges(const TrendModels& before, const TrendModels& now, std::vector<TrendRow>& rows) {
  const auto family_row = [&](const TrendModel* model) -> TrendNumbers& {
    return RowOf(rows, TrendScope::kFamily, std::string(FamilyName(model->family)));
  };
  const auto add = [&](const TrendModel* was, const TrendModel* is) {
    AddChange(was, is, RowOf(rows, TrendScope::kAll, ""));
    if (was != nullptr && is != nullptr && was->family == is->family) return AddChange(was, is, family_row(is));
    if (was != nullptr) AddChange(was, nullptr, family_row(was));
    if (is != nullptr) AddChange(nullptr, is, family_row(is));
  };
  for (const auto& [name, model] : now) {
    const auto old = before.find(name);
    add(old == before.end() ? nullptr : &old->second, &model);
  }
  for (const auto& [name, model] : before) {
    if (!now.contains(name)) add(&model, nullptr);
  }
}

}  // namespace breakwatch::engine
