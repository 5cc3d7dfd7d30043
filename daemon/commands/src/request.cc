#include <array>
#include <fstream>

#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/saved_plan.h"
#include "breakwatch/core/selector.h"
#include "commands.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kMaxPlanBytes = 64u << 20;

Result<Plan> ReadPlan(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::kUsage, "cannot read plan " + path};
  // Uses read(), which does not throw if `path` is a folder. Reads at most the size limit of a plan.
  std::string text;
  std::array<char, 64 * 1024> chunk{};
  while (text.size() <= kMaxPlanBytes && (file.read(chunk.data(), chunk.size()), file.gcount() > 0)) {
    text.append(chunk.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return Error{ErrorCode::kUsage, "cannot read plan " + path};
  auto plan = SavedPlanFromJson(text);
  if (!plan) return Error{ErrorCode::kUsage, path + " is not a plan: " + plan.error().message};
  if (plan->models.empty()) return Error{ErrorCode::kUsage, path + " contains no model"};
  return plan;
}

}  // namespace

Result<SweepRequest> MakeRequest(const Settings& settings, const SweepOptions& options) {
  SweepRequest request;
  request.list = settings.hub.list;
  request.list.ids = options.models;
  request.modes = WithCalls(settings.capture.modes, settings.capture.calls);
  request.toolchain.name = options.toolchain;
  request.track = options.track;
  request.resume = options.resume;
  if (const auto rebuild = ParseRebuild(settings.sweep.rebuild)) request.rebuild = *rebuild;
  const int sources = (options.resume ? 1 : 0) + (options.plan_file.empty() ? 0 : 1) + (options.models.empty() ? 0 : 1);
  if (sources > 1) return Error{ErrorCode::kUsage, "--resume, --plan and --model cannot be combined"};
  if (!options.plan_file.empty()) {
    auto plan = ReadPlan(options.plan_file);
    if (!plan) return plan.error();
    for (const PlannedModel& planned : plan->models) {
      if (RunsOwnCode(planned.info) && !settings.capture.allow_factories) return RefuseOwnCode(planned.info.id).error();
    }
    request.saved_plan = std::move(*plan);
  }
  if (auto checked = CheckNames(request); !checked) {
    return request.saved_plan ? checked.error().Within(options.plan_file) : checked.error();
  }
  return request;
}

}  // namespace breakwatch::commands
