#include "selection.h"

#include <algorithm>

namespace breakwatch::api {

Result<Selection> Selection::Of(const Call& call, const ServerParts&) {
  Selection selection;
  selection.family_ = call.Get("family");
  selection.status_ = call.Get("status");
  selection.reason_ = call.Get("reason");
  selection.gb_id_ = call.Get("gb_id");
  if (!call.Get("filter").empty()) return Error{ErrorCode::kUsage, "filter is not available in this version"};
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
         (status_.empty() || StatusName(model.status) == status_) && HasReason(numbers);
}

bool Selection::Matches(const ModelResult&) const { return true; }

}  // namespace breakwatch::api
