// Selection: which models a list contains, by the parameters family, status, reason, gb_id and filter.
#pragma once

#include <string>

#include "breakwatch/api/server.h"
#include "breakwatch/core/filter_subject.h"
#include "breakwatch/core/snapshot.h"
#include "breakwatch/core/sweep.h"
#include "call.h"

namespace breakwatch::api {

class Selection {
 public:
  // `parts` outlives it. Error: kUsage, the filter is wrong.
  static Result<Selection> Of(const Call& call, const ServerParts& parts);

  bool Matches(const TrackedModel& model, const Numbers* numbers) const;
  bool Matches(const ModelResult& result) const;  // by `filter` alone

 private:
  bool HasReason(const Numbers* numbers) const;

  std::string family_, status_, reason_, gb_id_;
  ModelFilter filter_;
  const ModelOwners* owners_ = nullptr;  // of the server
};

}  // namespace breakwatch::api
