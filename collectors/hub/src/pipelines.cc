// Repositories of diffusers: finds their models and the configuration of each.
#include "bundle.h"
#include "exclusions.h"
#include "hub_errors.h"
#include "resolver.h"

namespace breakwatch::hub {
namespace {

std::string Target(const ModelInfo& info, const std::string& file) {
  return "/" + info.id + "/resolve/" + (info.sha.empty() ? "main" : info.sha) + "/" + file;
}

}  // namespace

void Resolver::StartPipeline(std::size_t index) {
  const ModelInfo& info = models_[index].info;
  if (cache_.IsKnownAbsent(info.id, info.sha, kModelIndex)) return StartSingleConfig(index);
  client_->Get(Kind::kFile, Target(info, kModelIndex),
               [this, index](Answer answer) { TakePipelineIndex(index, std::move(answer)); });
}

void Resolver::TakePipelineIndex(std::size_t index, Answer answer) {
  if (!answer && answer.error().code == ErrorCode::kInterrupted) return;
  if (IsOutage(answer)) return TakeOutage(index, answer);
  if (!answer) return FinishExcluded(index, Status::kFailedResolve, answer.error().message);
  const RankedModel& model = models_[index];
  if (answer->status != 200) {
    Exclusion exclusion = ExplainAnswer(*answer, model.info.id, model.info.sha, options_);
    if (exclusion.status != Status::kSkippedNoConfig) {
      return FinishExcluded(index, exclusion.status, std::move(exclusion.detail));
    }
    KeepAbsent(model, *answer, kModelIndex);
    return StartSingleConfig(index);  // a single model, such as a ControlNet
  }
  if (Result<void> pinned = TakeCommit(index, *answer, kModelIndex); !pinned) {
    return FinishExcluded(index, Status::kFailedResolve, pinned.error().message);
  }
  Keep(model, *answer, answer->body, kModelIndex);
  StartComponents(index, answer->body);
}

void Resolver::StartComponents(std::size_t index, const std::string& model_index) {
  const auto components = ComponentsOf(model_index, options_);
  if (!components) return FinishExcluded(index, Status::kFailedResolve, components.error().message);
  Pipeline& pipeline = pipelines_[index];
  pipeline.model_index = model_index;
  const ModelInfo& info = models_[index].info;
  for (const std::string& component : *components) {
    const std::string file = ComponentConfig(component);
    if (auto cached = cache_.ReadConfig(info.id, info.sha, file)) {
      pipeline.configs[component] = *std::move(cached);
    } else if (!cache_.IsKnownAbsent(info.id, info.sha, file)) {
      ++pipeline.waiting;
      client_->Get(Kind::kFile, Target(info, file),
                   [this, index, component](Answer answer) { TakeComponent(index, component, std::move(answer)); });
    }
  }
  if (pipeline.waiting == 0) FinishPipeline(index);
}

void Resolver::TakeComponent(std::size_t index, const std::string& component, Answer answer) {
  if (!answer && answer.error().code == ErrorCode::kInterrupted) return;
  const auto found = pipelines_.find(index);
  if (found == pipelines_.end()) return;  // another component has already ended it
  Pipeline& pipeline = found->second;
  const RankedModel& model = models_[index];
  const std::string file = ComponentConfig(component);
  if (answer && answer->status == 200) {
    Keep(model, *answer, answer->body, file);
    pipeline.configs[component] = answer->body;
  } else if (IsOutage(answer)) {
    pipelines_.erase(found);
    return TakeOutage(index, answer);
  } else {
    Exclusion exclusion = answer ? ExplainAnswer(*answer, model.info.id, model.info.sha, options_)
                                 : Exclusion{Status::kFailedResolve, answer.error().message};
    if (exclusion.status != Status::kSkippedNoConfig) {
      pipelines_.erase(found);
      return FinishExcluded(index, exclusion.status, file + ": " + exclusion.detail);
    }
    KeepAbsent(model, *answer, file);  // settings of another kind, or code: the worker reports what it needs
  }
  if (--pipeline.waiting == 0) FinishPipeline(index);
}

void Resolver::FinishPipeline(std::size_t index) {
  const Pipeline pipeline = std::move(pipelines_.extract(index).mapped());
  RankedModel& model = models_[index];
  TakeBundle(BundleText(pipeline.model_index, pipeline.configs), families_, options_, model);
  if (!model.excluded && model.info.config_source.empty()) model.info.config_source = "hub";
  Finish();
}

// Only a complete bundle is used while the rest can still be requested.
std::optional<std::string> Resolver::CachedBundle(const std::string& id, const std::string& sha) const {
  const auto model_index = cache_.ReadConfig(id, sha, kModelIndex);
  if (!model_index) return std::nullopt;
  const auto components = ComponentsOf(*model_index, options_);
  if (!components) return std::nullopt;
  std::map<std::string, std::string> configs;
  for (const std::string& component : *components) {
    const std::string file = ComponentConfig(component);
    if (auto config = cache_.ReadConfig(id, sha, file)) {
      configs[component] = *std::move(config);
    } else if (client_ && !cache_.IsKnownAbsent(id, sha, file)) {
      return std::nullopt;
    }
  }
  return BundleText(*model_index, configs);
}

}  // namespace breakwatch::hub
