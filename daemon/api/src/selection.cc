#include "selection.h"

#include <algorithm>

namespace breakwatch::api {

Result<Selection> Selection::Of(const Call& call, const ServerParts& parts) {
  Selection selection;
  selection.family_ = call.Get("family");
  selection.status_ = call.Get("status");
  selection.reason_ = call.Get("reason");
  selection.gb_id_ = call.Get("gb_id");
  selection.owners_ = &parts.owners;
  if (const std::string& text = call.Get("filter"); !text.empty()) {
    auto filter = ModelFilter::Parse(text);  // without files: a request must not read any
    if (!filter) return filter.error().Within("filter");
    if (auto known = filter->CheckOwners(OwnerNames(parts.owners)); !known) return known.error().Within("filter");
    selection.filter_ = *std::move(filter);
  }
  return selection;
}

bool Selection::HasReason(const Numbers* numbers) const {
  if (reason_.empty() && gb_id_.empty()) return true;
  if (numbers == nullptr) return false;
  return std::any_of(numbers->reasons.begin(), numbers->reasons.end(), [&](const ReasonCount& r) {
    return (reason_.empty() || r.reason == reason_) && (gb_id_.empty() || r.gb_id == gb_id_);
  });
}

bool Selection::Matches(const TrackedModel& model, const Numbers* numbers) const {
  return (family_.empty() || FamilyName(model.family) == family_) &&
         (status_.empty() || StatusName(model.status) == status_) && HasReason(numbers) &&
         (filter_.MatchesEverything() || filter_.Matches(SubjectOf(model, *owners_)));
}

bool Selection::Matches(const ModelResult& result) const {
  return filter_.MatchesEverything() || filter_.Matches(SubjectOf(result, *owners_));
}

}  // namespace breakwatch::api
