// What a ModelFilter sees of results, of listed and of tracked models, and who owns them. Commands, report and api
// select with these alone. Rows of one page, for example, without the rest of the results:
//
//   const auto filter = ModelFilter::Parse(text);                // no @FILE: the text comes from a request
//   if (auto checked = filter->CheckOwners(OwnerNames(owners)); !checked) ...
//   if (filter->Matches(SubjectOf(result, owners))) ...          // `owners`: Settings::models
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/model_filter.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"

namespace breakwatch {

// Who is responsible for the models that `models` matches.
struct ModelOwner {
  std::string name, contact;  // the contact may be empty
  ModelFilter models;         // of facts that need no capture, and no owner
};
using ModelOwners = std::vector<ModelOwner>;

std::vector<std::string> OwnerNames(const ModelOwners& owners);

// A model as listed; `mode` may be empty.
FilterSubject SubjectOf(const ModelInfo& info, const ModelOwners& owners, std::string_view mode = {});
FilterSubject SubjectOf(const ModelResult& result, const ModelOwners& owners);
// A tracked model: its reasons are those of its numbers, its statuses those of its attempts. It has no task, library,
// class or model_type.
FilterSubject SubjectOf(const TrackedModel& model, const ModelOwners& owners);

// Fills in the owners of results, to print them.
void NoteOwners(std::vector<ModelResult>& results, const ModelOwners& owners);

// Removes the results that do not match. Error: kUsage, as ModelFilter::CheckSelects and CheckOwners; the results are
// unchanged then.
Result<void> KeepMatching(std::vector<ModelResult>& results, const ModelFilter& filter, const ModelOwners& owners);
// The same for the two sides of a comparison: a model of which one result matches stays on both sides.
Result<void> KeepMatching(std::vector<ModelResult>& a, std::vector<ModelResult>& b, const ModelFilter& filter,
                          const ModelOwners& owners);

}  // namespace breakwatch
