#include "breakwatch/engine/plan_request.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "breakwatch/core/text.h"
#include "breakwatch/core/threads.h"
#include "listing.h"

namespace breakwatch::engine {
namespace {

using ModesByModel = std::map<std::string, std::vector<std::string>>;

// The modes of each model of a plan, in its order.
ModesByModel ModesOf(const Plan& plan) {
  ModesByModel modes;
  for (const PlannedModel& planned : plan.models) modes[planned.info.id].push_back(planned.mode);
  return modes;
}

// The modes of the models for which the rules have others than the settings.
ModesByModel ModesOf(const RankedList& list, const ModelRules& rules) {
  ModesByModel modes;
  for (const RankedModel& model : list.models) {
    if (auto own = OverrideOf(model.info, rules).modes; !own.empty()) modes[model.info.id] = std::move(own);
  }
  return modes;
}

// What a filter of a request sees of a listed model: of its results, what the newest attempts found.
FilterSubject SubjectOfListed(const ModelInfo& info, const ModelOwners& owners, const Aggregate& current) {
  FilterSubject subject = SubjectOf(info, owners);
  if (const TrackedModel* row = current.Find(info.id)) {
    FilterSubject stored = SubjectOf(*row, {});
    subject.reasons = std::move(stored.reasons);
    subject.statuses = std::move(stored.statuses);
  }
  return subject;
}

// The part of a list that the request selects. Error: kUsage.
Result<RankedList> Selected(RankedList list, const SweepRequest& request, const PlanInputs& inputs) {
  const ModelOwners& owners = inputs.options.rules.owners;
  const auto filter = ModelFilter::Parse(request.list.select);
  if (!filter) return filter.error();
  if (filter->Uses(FilterKey::kMode)) return Error{ErrorCode::kUsage, "mode: select modes with capture.modes"};
  if (auto checked = filter->CheckOwners(OwnerNames(owners)); !checked) return checked.error();
  std::vector<FilterSubject> subjects;
  for (const RankedModel& model : list.models) subjects.push_back(SubjectOfListed(model.info, owners, inputs.current));
  if (auto checked = filter->CheckSelects(subjects); !checked) return checked.error().Within("of the listed models");
  std::size_t i = 0;
  std::erase_if(list.models, [&](const RankedModel&) { return !filter->Matches(subjects[i++]); });
  list.ranked = false;
  return list;
}

// Lists the models of a saved plan at their commits. Their actions are planned again.
RankedList ListOf(const Plan& plan) {
  RankedList list;
  list.source = plan.source;
  list.ranked = plan.ranked;
  for (const PlannedModel& planned : plan.models) {
    RankedModel model;
    model.info = planned.info;
    model.config_json = planned.config_json;
    if (planned.config_json.empty()) {
      model.excluded = planned.status.value_or(Status::kSkippedNoConfig);
      model.detail = planned.detail;
    }
    list.models.push_back(std::move(model));
  }
  return list;
}

Result<RankedList> AskLister(ModelLister& lister, const ListRequest& request, ProgressListener& progress,
                             const ListingWait& wait) {
  std::unique_ptr<Listing> listing;
  try {
    listing = std::make_unique<Listing>(lister, request);
  } catch (const std::system_error& error) {
    return CannotStartThread("the lister's", error);
  }
  while (true) {
    if (auto waited = wait(listing->Fd()); !waited) return waited.error();
    auto news = listing->Take();
    if (news.total > 0) progress.OnListing(news.resolved, news.total);
    if (news.answer) return *std::move(news.answer);
  }
}

// A saved plan has one set of options of measurements and of fixes: those of its first model with any.
std::optional<MeasureOptions> MeasureOf(const SweepRequest& request) {
  if (request.measure || !request.saved_plan) return request.measure;
  for (const PlannedModel& planned : request.saved_plan->models) {
    if (planned.measure_json.empty()) continue;
    auto options = MeasureOptionsFromJson(planned.measure_json);
    if (!options) continue;
    options->dtype = planned.dtype;
    return *std::move(options);
  }
  return std::nullopt;
}
std::optional<FixOptions> FixOf(const SweepRequest& request) {
  if (request.fix || !request.saved_plan) return request.fix;
  for (const PlannedModel& planned : request.saved_plan->models) {
    if (planned.fix_json.empty()) continue;
    if (auto options = FixOptionsFromJson(planned.fix_json)) return *std::move(options);
  }
  return std::nullopt;
}
std::optional<ReproOptions> ReproOf(const SweepRequest& request) {
  if (request.repro || !request.saved_plan) return request.repro;
  for (const PlannedModel& planned : request.saved_plan->models) {
    if (planned.repro_json.empty()) continue;
    if (auto options = ReproOptionsFromJson(planned.repro_json)) return *std::move(options);
  }
  return std::nullopt;
}

// The options of the settings, with what the request changes.
PlanOptions OptionsOf(const SweepRequest& request, const RankedList& list, const PlanInputs& inputs) {
  PlanOptions options = inputs.options;
  options.toolchain = inputs.toolchain;
  options.primary = !request.imported && inputs.toolchain.name == inputs.options.toolchain.name;
  if (request.imported) {  // an import is not verified, repeated or given other inputs
    options.verify_share = 0, options.repeat = 1;
    options.inputs_specs.clear(), options.ignored_config_keys = {}, options.rules = {};
  }
  options.rebuild = request.rebuild;
  options.track = request.track;
  options.pinned_architectures.merge(inputs.current.PinnedArchitectures());
  if (!request.modes.empty()) options.modes = request.modes;
  if (const auto measure = MeasureOf(request)) options.measure = *measure;
  if (const auto fix = FixOf(request)) options.fix = *fix;
  if (const auto repro = ReproOf(request)) options.repro = *repro;
  options.modes_of = request.saved_plan ? ModesOf(*request.saved_plan) : ModesOf(list, options.rules);
  return options;
}

Result<Known> KnownOf(const RankedList& list, const PlanOptions& options, store::SweepStore& sweeps) {
  Known known;
  std::set<std::string> modes(options.modes.begin(), options.modes.end());
  for (const auto& [model, own] : options.modes_of) modes.insert(own.begin(), own.end());
  for (const std::string& mode : modes) {
    auto of_mode = sweeps.Histories(StructuresOf(list, options, mode), mode);
    if (!of_mode) return of_mode.error();
    known.histories.merge(*of_mode);
  }
  std::vector<std::string> models;
  for (const RankedModel& model : list.models) models.push_back(model.info.id);
  auto revisions = sweeps.LatestRevisions(models);
  if (!revisions) return revisions.error();
  known.revisions = *std::move(revisions);
  return known;
}

Result<Plan> PlanOf(const std::string& sweep_id, const SweepRequest& request, RankedList list,
                    const PlanInputs& inputs) {
  const PlanOptions options = OptionsOf(request, list, inputs);
  const auto known = KnownOf(list, options, inputs.sweeps);
  if (!known) return known.error();
  return MakePlan(sweep_id, std::move(list), *known, options, inputs.now);
}

}  // namespace

std::string MakeSweepId(SystemTime now) {
  char suffix[16];
  std::snprintf(suffix, sizeof suffix, "Z-%06x", std::random_device{}() & 0xffffffu);
  return CompactTime(now) + suffix;
}

ListingWait WaitForStop(CommandQueue& commands) {
  return [&commands](int fd) -> Result<void> {
    std::array<pollfd, 2> readable{pollfd{fd, POLLIN, 0}, pollfd{commands.Fd(), POLLIN, 0}};
    (void)poll(readable.data(), readable.size(), -1);
    while (const auto command = commands.Pop()) {
      if (command->kind == Command::Kind::kStop) return Error{ErrorCode::kInterrupted, "stopped while listing"};
    }
    return {};
  };
}

Result<RankedList> ListModels(ModelLister& lister, const SweepRequest& request, ProgressListener& progress,
                              const ListingWait& wait) {
  auto list = request.saved_plan ? Result<RankedList>(ListOf(*request.saved_plan))
                                 : AskLister(lister, request.list, progress, wait);
  if (!list) return list;
  for (const std::string& warning : list->warnings) progress.OnWarning(warning);
  // Most likely a mistyped filter: no model is known to have left the ranking.
  if (list->models.empty()) {
    list->ranked = false;
    progress.OnWarning("the listing of " + list->source +
                       " is empty: check hub.author, hub.search, hub.task, hub.library and hub.filters; nothing "
                       "is captured and the tracked models do not change");
  }
  return list;
}

Result<Plan> PlanRequest(const std::string& sweep_id, const SweepRequest& request, RankedList list,
                         const PlanInputs& inputs) {
  if (request.list.select.empty()) return PlanOf(sweep_id, request, std::move(list), inputs);
  auto selected = Selected(std::move(list), request, inputs);
  if (!selected) return selected.error();
  return PlanOf(sweep_id, request, *std::move(selected), inputs);
}

}  // namespace breakwatch::engine
