#include "breakwatch/core/filter_subject.h"

#include <cstddef>
#include <set>
#include <span>

namespace breakwatch {
namespace {

void AddOwners(FilterSubject& subject, const ModelOwners& owners) {
  for (const ModelOwner& owner : owners) {
    if (owner.models.Matches(subject)) subject.owners.push_back(owner.name);
  }
}

// Whether each result matches: those of `a`, then those of `b`.
Result<std::vector<bool>> Matching(std::span<const ModelResult> a, std::span<const ModelResult> b,
                                   const ModelFilter& filter, const ModelOwners& owners) {
  if (auto checked = filter.CheckOwners(OwnerNames(owners)); !checked) return checked.error();
  std::vector<FilterSubject> subjects;
  subjects.reserve(a.size() + b.size());
  for (const auto& side : {a, b}) {
    for (const ModelResult& result : side) subjects.push_back(SubjectOf(result, owners));
  }
  if (auto checked = filter.CheckSelects(subjects); !checked) return checked.error();
  std::vector<bool> matches;
  for (const FilterSubject& subject : subjects) matches.push_back(filter.Matches(subject));
  return matches;
}

}  // namespace

std::vector<std::string> OwnerNames(const ModelOwners& owners) {
  std::vector<std::string> names;
  for (const ModelOwner& owner : owners) names.push_back(owner.name);
  return names;
}

FilterSubject SubjectOf(const ModelInfo& info, const ModelOwners& owners, std::string_view mode) {
  FilterSubject subject;
  subject.id = info.id;
  subject.requested_id = info.requested_id;
  subject.family = info.family;
  subject.architectures = info.architectures;
  subject.model_type = info.model_type;
  subject.task = info.task;
  subject.library = info.library;
  subject.mode = mode;
  AddOwners(subject, owners);
  return subject;
}

FilterSubject SubjectOf(const ModelResult& result, const ModelOwners& owners) {
  ModelInfo info = result.info;
  // The class and type that were built, if the listing did not know them.
  const CaptureResult& capture = result.capture;
  if (info.architectures.empty() && !capture.architecture.empty()) info.architectures = {capture.architecture};
  if (info.model_type.empty()) info.model_type = capture.model_type;
  FilterSubject subject = SubjectOf(info, owners, capture.mode);
  for (const BreakSite& site : capture.sites) subject.reasons.push_back({site.reason, site.gb_id});
  subject.statuses = {capture.status};
  return subject;
}

FilterSubject SubjectOf(const TrackedModel& model, const ModelOwners& owners) {
  FilterSubject subject;
  subject.id = model.model;
  subject.family = model.family;
  AddOwners(subject, owners);
  std::set<Status> statuses{model.status};
  for (const auto& [key, attempt] : model.attempts) statuses.insert(attempt.status);
  subject.statuses.assign(statuses.begin(), statuses.end());
  for (const auto& [key, numbers] : model.numbers) {
    for (const ReasonCount& reason : numbers.reasons) subject.reasons.push_back({reason.reason, reason.gb_id});
  }
  return subject;
}

void NoteOwners(std::vector<ModelResult>& results, const ModelOwners& owners) {
  if (owners.empty()) return;
  for (ModelResult& result : results) result.owners = SubjectOf(result, owners).owners;
}

Result<void> KeepMatching(std::vector<ModelResult>& results, const ModelFilter& filter, const ModelOwners& owners) {
  if (filter.MatchesEverything()) return {};
  auto matches = Matching(results, {}, filter, owners);
  if (!matches) return matches.error();
  std::size_t i = 0;
  std::erase_if(results, [&](const ModelResult&) { return !(*matches)[i++]; });
  return {};
}

Result<void> KeepMatching(std::vector<ModelResult>& a, std::vector<ModelResult>& b, const ModelFilter& filter,
                          const ModelOwners& owners) {
  if (filter.MatchesEverything()) return {};
  auto matches = Matching(a, b, filter, owners);
  if (!matches) return matches.error();
  std::set<std::string> kept;
  for (std::size_t i = 0; i < matches->size(); ++i) {
    if ((*matches)[i]) kept.insert(i < a.size() ? a[i].info.id : b[i - a.size()].info.id);
  }
  for (std::vector<ModelResult>* side : {&a, &b}) {
    std::erase_if(*side, [&](const ModelResult& result) { return !kept.contains(result.info.id); });
  }
  return {};
}

}  // namespace breakwatch
