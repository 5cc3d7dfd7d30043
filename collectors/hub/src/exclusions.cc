#include "exclusions.h"

namespace breakwatch::hub {
namespace {

std::optional<Exclusion> ExcludeBySize(const ModelInfo& info, const ListRequest& request, const HubOptions& options) {
  if (!info.params) return std::nullopt;
  const std::string size = std::to_string(*info.params) + " parameters";
  for (const auto& limit : {options.max_params, request.max_params}) {
    if (limit && *info.params > *limit) {
      return Exclusion{Status::kSkippedTooLarge, size + ", more than hub.max_params " + std::to_string(*limit)};
    }
  }
  if (request.min_params && *info.params < *request.min_params) {
    return Exclusion{Status::kSkippedFiltered,
                     size + ", fewer than hub.min_params " + std::to_string(*request.min_params) + ""};
  }
  return std::nullopt;
}

// A mirror may ignore an unknown parameter and list models that were not requested.
std::optional<Exclusion> ExcludeByFilters(const ModelInfo& info, const ListRequest& request) {
  if (!request.ids.empty()) return std::nullopt;
  const auto filtered = [](const std::string& what) { return Exclusion{Status::kSkippedFiltered, what}; };
  if (!request.author.empty() && !info.id.starts_with(request.author + "/")) {
    return filtered("not by the requested author, " + request.author);
  }
  if (!request.task.empty() && info.task != request.task) {
    return filtered("its task is \"" + info.task + "\", not the requested one, \"" + request.task + "\"");
  }
  if (request.gated && *request.gated == info.gated.empty()) {
    return filtered(*request.gated ? "not gated, but only gated models were requested"
                                   : "gated, but only open models were requested");
  }
  return std::nullopt;
}

}  // namespace

std::optional<Exclusion> ExcludeByInfo(const ModelInfo& info, const ListRequest& request, const HubOptions& options,
                                       const FamilyTable& families) {
  if (info.disabled) return Exclusion{Status::kSkippedDisabled, "the Hub has disabled this repository"};
  if (auto filtered = ExcludeByFilters(info, request)) return filtered;
  if (const auto holds = families.UnsupportedLibrary(info.library)) {
    return Exclusion{Status::kSkippedUnsupportedLibrary, "library \"" + info.library + "\": " + *holds};
  }
  return ExcludeBySize(info, request, options);
}

void Exclude(RankedModel& model, Exclusion exclusion) {
  model.excluded = exclusion.status;
  model.detail = std::move(exclusion.detail);
  model.config_json.clear();
}

}  // namespace breakwatch::hub
