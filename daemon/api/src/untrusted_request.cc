#include "untrusted_request.h"

#include <algorithm>

#include "breakwatch/core/choices.h"
#include "breakwatch/core/selector.h"
#include "quoted.h"

namespace breakwatch::api {
namespace {

Result<void> CheckModel(const std::string& id) {
  if (!IsSelector(id)) return {};
  return Error{ErrorCode::kUsage, Quoted(id) +
                                      " runs code, which is not allowed here: expected org/name or org/name@revision; "
                                      "run `breakwatch sweep` as the daemon's user instead"};
}

}  // namespace

Result<void> CheckUntrusted(const SweepRequest& request, const std::vector<std::string>& toolchains) {
  if (!request.toolchain.python.empty()) {
    return Error{ErrorCode::kUsage, "only the daemon's own user can name an interpreter"};
  }
  const std::string& name = request.toolchain.name;
  const bool known = std::find(toolchains.begin(), toolchains.end(), name) != toolchains.end();
  // An import was captured elsewhere: its toolchain is only a name and runs nothing.
  if (!name.empty() && !request.imported && !known) {
    const std::vector<std::string_view> names(toolchains.begin(), toolchains.end());
    return Error{ErrorCode::kUsage, "no toolchain " + Quoted(name) + " is configured; configured: " + OneOf(names)};
  }
  for (const std::string& id : request.list.ids) {
    if (auto checked = CheckModel(id); !checked) return checked;
  }
  if (!request.saved_plan) return {};
  for (const PlannedModel& planned : request.saved_plan->models) {
    if (auto checked = CheckModel(planned.info.id); !checked) return checked;
  }
  return {};
}

}  // namespace breakwatch::api
