// The plan of a sweep, one model at a time, in its order. It is read page by page, as its results are: a plan of the
// whole Hub is large, and no transaction lasts while the caller works.
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "documents.h"
#include "runs.h"
#include "sql.h"
#include "sql_store.h"

namespace breakwatch::store {
namespace {

constexpr std::size_t kPageRows = 500;
constexpr std::size_t kPageBytes = 1u << 20;

}  // namespace

// A page; `last` is the position of its last row, even if that one is damaged.
struct SqlStore::PlanPart {
  Plan plan;
  std::optional<Int> last;
};

Result<Plan> SweepStore::LoadPlanHead(const std::string& sweep_id) {
  auto plan = LoadPlan(sweep_id);
  if (plan) plan->models.clear();
  return plan;
}

Result<void> SweepStore::EachPlanned(const std::string& sweep_id, const UsePlanned& use) {
  auto plan = LoadPlan(sweep_id);
  if (!plan) return plan.error();
  for (PlannedModel& planned : plan->models) {
    if (auto used = use(std::move(planned)); !used) return used;
  }
  return {};
}

Result<std::set<std::string>> SweepStore::PlannedModels(const std::string& sweep_id) {
  std::set<std::string> models;
  auto read = EachPlanned(sweep_id, [&](const PlannedModel& planned) -> Result<void> {
    models.insert(planned.info.id);
    return {};
  });
  if (!read) return read.error();
  return models;
}

Result<std::set<std::string>> SqlStore::PlannedModels(const std::string& sweep_id) {
  return db_.Read([&](soci::session& sql) -> Result<std::set<std::string>> {
    std::set<std::string> models;
    Query<std::string>(
        sql,
        has_runs_ ? std::string("SELECT p.model") + kPlanOfRuns
                  : "SELECT model FROM plans WHERE sweep_id = :id ORDER BY model",
        [&](const std::string& model) { return models.insert(model), true; }, ToUtf8(sweep_id));
    return models;
  });
}

Result<Plan> SqlStore::LoadPlan(const std::string& sweep_id) {
  auto plan = LoadPlanHead(sweep_id);
  if (!plan) return plan;
  auto read = EachPlanned(sweep_id, [&](PlannedModel planned) -> Result<void> {
    plan->models.push_back(std::move(planned));
    return {};
  });
  if (!read) return read.error();
  return plan;
}

Result<Plan> SqlStore::LoadPlanHead(const std::string& sweep_id) {
  const std::string id = ToUtf8(sweep_id);
  return db_.Read([&](soci::session& sql) -> Result<Plan> {
    std::optional<std::string> head;
    Query<std::string>(
        sql, "SELECT plan_document FROM sweeps WHERE id = :id",
        [&](const std::string& text) { return head = text, false; }, id);
    if (!head) return Error{ErrorCode::kNotFound, "no sweep " + id + " in " + db_.name()};
    auto plan = PlanFromJson(*head);
    if (plan) return plan;
    return ToError(Failure::kCorrupted, db_.name(), "table sweeps, row " + id + ", its plan: " + plan.error().message);
  });
}

Result<SqlStore::PlanPart> SqlStore::ReadPlanPart(const std::string& id, std::int64_t after) {
  return db_.Read([&](soci::session& sql) -> Result<PlanPart> {
    PlanPart part;
    std::size_t bytes = 0;
    Query<Int, std::string, std::string>(
        sql, PlanQuery(has_runs_, kPageRows),
        [&](Int position, const std::string& model, const std::string& document) {
          part.last = position;
          bytes += document.size();
          DecodeOrReportPlanned(id, model, document, part.plan);
          return bytes < kPageBytes;
        },
        id, Int{BeforeRun(after)}, Int{after}, Int{after});
    return part;
  });
}

void SqlStore::DecodeOrReportPlanned(const std::string& id, const std::string& model, const std::string& document,
                                     Plan& plan) {
  if (auto decoded = DecodePlanned({document}, plan); !decoded)
    Report({"plans", "sweep " + id, model, decoded.error().message});
}

Result<void> SqlStore::EachPlanned(const std::string& sweep_id, const UsePlanned& use) {
  const std::string id = ToUtf8(sweep_id);
  for (Int after = -1;;) {
    auto part = ReadPlanPart(id, after);
    if (!part) return db_.MetDamage() ? EachPlannedPastDamage(id, after, use) : Result<void>(part.error());
    for (PlannedModel& planned : part->plan.models) {
      if (auto used = use(std::move(planned)); !used) return used;
    }
    if (!part->last) return {};
    after = *part->last;
  }
}

// The rest one at a time, after a damaged page. The positions come from an index.
Result<void> SqlStore::EachPlannedPastDamage(const std::string& id, std::int64_t after, const UsePlanned& use) {
  std::vector<PlanRow> rows;
  const auto listed = db_.Read([&](soci::session& sql) -> Result<void> {
    Query<std::string, Int>(
        sql,
        has_runs_ ? std::string("SELECT p.sweep_id, p.position") + kPlanOfRuns + kPlanAfter + kPlanOrder
                  : "SELECT sweep_id, position FROM plans WHERE sweep_id = :id AND position > :low"
                    " AND position > :run AND position > :after ORDER BY position",
        [&](const std::string& sweep, Int place) {
          return rows.push_back({sweep, place}), true;
        },
        id, Int{BeforeRun(after)}, Int{after}, Int{after});
    return {};
  });
  if (!listed) return listed;
  for (const PlanRow& row : rows) {
    Plan one;
    auto read = ReadPast({"plans", "sweep " + row.sweep_id + ", position " + std::to_string(row.position), "", ""},
                         [&](soci::session& sql) -> Result<void> {
                           Query<std::string, std::string>(
                               sql, "SELECT model, document FROM plans WHERE sweep_id = :id AND position = :position",
                               [&](const std::string& model, const std::string& document) {
                                 DecodeOrReportPlanned(row.sweep_id, model, document, one);
                                 return false;
                               },
                               row.sweep_id, Int{row.position});
                           return {};
                         });
    if (!read) return read.error();
    for (PlannedModel& planned : one.models) {
      if (auto used = use(std::move(planned)); !used) return used;
    }
  }
  return {};
}

}  // namespace breakwatch::store
