#include <algorithm>
#include <array>
#include <fstream>

#include "breakwatch/config/models_file.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/saved_plan.h"
#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"
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

// The names in "@FILE", if all its lines are names; none for another filter or file.
Result<std::vector<std::string>> NamesIn(const std::string& text) {
  std::vector<std::string> names;
  if (!text.starts_with('@') || text.find_first_of(" \t()\"'") != text.npos) return names;
  const auto file = config::ReadFilterFile(text.substr(1));
  if (!file) return Error{ErrorCode::kUsage, text.substr(1) + ": " + file.error().message};
  if (file->size() > kMaxFilterFileBytes) return names;  // refused as a filter
  for (std::string_view rest = *file; !rest.empty();) {
    const std::string_view line = FirstLine(rest);
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string name(Trim(line.substr(0, line.find('#'))));
    if (name.empty()) continue;
    if (IsModelFilter(name)) return std::vector<std::string>();
    names.push_back(name);
  }
  return names;
}

// The text of a filter for another process, which reads no files.
std::string Sendable(const ModelFilter& filter) {
  return ModelFilter::Parse(filter.text()) ? filter.text() : filter.Expanded();
}

}  // namespace

Result<void> SelectModels(SweepOptions& options) {
  std::vector<std::string> names;
  std::vector<ModelFilter> filters;
  for (const std::string& text : options.models) {
    if (!IsModelFilter(text)) {
      names.push_back(text);
      continue;
    }
    auto listed = NamesIn(text);
    if (!listed) return listed.error().Within("--model");
    names.insert(names.end(), listed->begin(), listed->end());
    if (!listed->empty()) continue;
    auto filter = ParseFilter("--model", text);
    if (!filter) return filter.error();
    filters.push_back(*std::move(filter));
  }
  if (!options.owner.empty()) {
    const auto of_owner = ModelFilter::OfOwner(options.owner);
    filters = {filters.empty() ? of_owner : ModelFilter::AllOf(std::array{ModelFilter::AnyOf(filters), of_owner})};
  }
  if (!names.empty() && !filters.empty()) {
    return Error{ErrorCode::kUsage, "--model " + names.front() +
                                        " names a model, and cannot be combined with a filter of the ranking: use "
                                        "one filter, such as 'org/name or family:audio'"};
  }
  options.models = std::move(names);
  if (!filters.empty()) options.select = Sendable(ModelFilter::AnyOf(filters));
  return {};
}

Result<SweepRequest> MakeRequest(const Settings& settings, const SweepOptions& options) {
  SweepRequest request;
  request.list = settings.hub.list;
  request.list.ids = options.models;
  request.list.select = options.select;
  request.modes = WithCalls(settings.capture.modes, settings.capture.calls);
  request.toolchain.name = options.toolchain;
  request.track = options.track;
  request.resume = options.resume;
  request.try_fixes = settings.capture.fix == "broken";
  if (request.try_fixes) request.fix = config::FixOptionsOf(settings.capture);
  if (const auto rebuild = ParseRebuild(settings.sweep.rebuild)) request.rebuild = *rebuild;
  const bool by_model = !options.models.empty() || !options.select.empty();
  const int sources = (options.resume ? 1 : 0) + (options.plan_file.empty() ? 0 : 1) + (by_model ? 1 : 0);
  if (sources > 1) return Error{ErrorCode::kUsage, "--resume, --plan and --model or --owner cannot be combined"};
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
