#include "resolver.h"

#include <algorithm>
#include <set>

#include "breakwatch/core/text.h"
#include "bundle.h"
#include "config_check.h"
#include "exclusions.h"
#include "hub_errors.h"

namespace breakwatch::hub {

Resolver::Resolver(const ListRequest& request, const HubOptions& options, const FamilyTable& families,
                   const HubCache& cache, HubClient* client, const ModelLister::Progress& progress)
    : request_(request), options_(options), families_(families), cache_(cache), client_(client), progress_(progress) {}

void Resolver::AddListed(ModelInfo info) {
  models_.push_back({.info = std::move(info), .config_json = {}, .excluded = {}, .detail = {}});
  named_.emplace_back();
  revisions_.emplace_back();
}

void Resolver::AddNamed(const std::string& text) {
  AddListed({});
  named_.back() = text;
}

void Resolver::Start() {
  for (std::size_t i = 0; i < models_.size(); ++i) {
    if (named_[i].empty()) {
      StartConfig(i);
    } else {
      StartNamed(i);
    }
  }
}

std::string Resolver::Revision(std::size_t index) const {
  return revisions_[index].empty() ? "main" : revisions_[index];
}

void Resolver::StartConfig(std::size_t index) {
  RankedModel& model = models_[index];
  if (auto exclusion = ExcludeByInfo(model.info, request_, options_, families_)) {
    return FinishExcluded(index, exclusion->status, std::move(exclusion->detail));
  }
  if (TakeCached(index, model.info.sha)) return;
  if (client_ && model.info.library == "diffusers") return StartPipeline(index);
  StartSingleConfig(index);
}

void Resolver::StartSingleConfig(std::size_t index) {
  RankedModel& model = models_[index];
  if (cache_.IsKnownAbsent(model.info.id, model.info.sha)) {
    return FinishExcluded(index, Status::kSkippedNoConfig,
                          "the repository has no config.json at " + model.info.sha + " (known from the cache)");
  }
  if (!client_) {
    return FinishExcluded(index, Status::kFailedResolve,
                          "offline, and " + cache_.ConfigPath(model.info.id, model.info.sha) + " does not exist");
  }
  // If the listing has no commits, the answer for the file names one.
  const std::string revision = model.info.sha.empty() ? "main" : model.info.sha;
  client_->Get(Kind::kFile, "/" + model.info.id + "/resolve/" + revision + "/config.json",
               [this, index](Answer answer) { TakeAnswer(index, std::move(answer)); });
}

void Resolver::TakeAnswer(std::size_t index, Answer answer) {
  if (!answer && answer.error().code == ErrorCode::kInterrupted) return;
  if (answer && answer->status == 200) return TakeFile(index, *answer);
  if (IsOutage(answer)) return TakeOutage(index, answer);
  if (!answer) return FinishExcluded(index, Status::kFailedResolve, answer.error().message);
  const ModelInfo& info = models_[index].info;
  Exclusion exclusion = ExplainAnswer(*answer, info.id, info.sha, options_);
  if (exclusion.status == Status::kSkippedNoConfig) KeepAbsent(models_[index], *answer, kConfigFile);
  FinishExcluded(index, exclusion.status, std::move(exclusion.detail));
}

void Resolver::TakeFile(std::size_t index, const net::HttpResponse& response) {
  RankedModel& model = models_[index];
  if (Result<void> pinned = TakeCommit(index, response, kConfigFile); !pinned) {
    return FinishExcluded(index, Status::kFailedResolve, pinned.error().message);
  }
  TakeConfig(response.body, families_, options_, model);
  if (!model.excluded) {
    // A replayed Hub marks a configuration made of defaults. It must not be stored in the shared cache, where it would
    // be taken for the real file.
    const bool is_default = response.Header("x-breakwatch-config-source") == "class_default";
    if (is_default) model.info.config_source = "class_default";
    if (model.info.config_source.empty()) model.info.config_source = "hub";
    if (!is_default) Keep(model, response, response.body);
  }
  Finish();
}

// If the listing has no commits, the answer for the first file determines the commit.
Result<void> Resolver::TakeCommit(std::size_t index, const net::HttpResponse& response, const std::string& file) {
  ModelInfo& info = models_[index].info;
  if (!info.sha.empty()) return {};
  const std::string commit = response.Header("x-repo-commit").value_or("");
  if (!IsCommit(commit)) return Error{ErrorCode::kInvalid, "the server sent no commit for " + file};
  info.sha = commit;
  return {};
}

void Resolver::KeepAbsent(const RankedModel& model, const net::HttpResponse& response, const std::string& file) {
  if (response.Header("x-repo-commit") != model.info.sha) return;
  if (Result<void> kept = cache_.StoreAbsent(model.info.id, model.info.sha, file); !kept) Warn(kept.error().message);
}

void Resolver::Keep(const RankedModel& model, const net::HttpResponse& response, const std::string& bytes,
                    const std::string& file) {
  const auto linked = response.Header("x-linked-etag");
  const std::string etag = linked ? *linked : response.Header("etag").value_or("");
  const std::size_t index = static_cast<std::size_t>(&model - models_.data());
  // The Python client uses the requested name, even if the model was renamed.
  for (const std::string& id : {model.info.id, model.info.requested_id}) {
    Result<void> kept = cache_.StoreConfig(id, model.info.sha, etag, bytes, file);
    if (kept) kept = cache_.StoreRef(id, Revision(index), model.info.sha);
    if (!kept) return Warn("cannot write the cache: " + kept.error().message);
  }
}

// During an outage a cached model is used, even at an older commit.
void Resolver::TakeOutage(std::size_t index, const Answer& answer) {
  std::string why = Shown(answer);
  if (TakeCachedRef(index, why)) return;
  ++outages_;
  why += " (" + answer.effort + ")";
  if (!outage_) outage_ = Error{ErrorCode::kUnavailable, why, true};
  FinishExcluded(index, Status::kFailedResolve, why);
}

bool Resolver::TakeCachedRef(std::size_t index, const std::string& why) {
  RankedModel& model = models_[index];
  const std::string wanted = model.info.sha;
  const auto sha = cache_.ReadRef(model.info.id, Revision(index));
  if (!sha || !TakeCached(index, *sha)) return false;
  Warn(model.info.id + ": from the cache at " + *sha + (wanted.empty() ? "" : " instead of " + wanted) + ": " + why);
  return true;
}

// An unusable cached file counts as missing.
bool Resolver::TakeCached(std::size_t index, const std::string& sha) {
  const std::string& id = models_[index].info.id;
  RankedModel taken = models_[index];
  taken.info.sha = sha;
  if (auto bundle = CachedBundle(id, sha)) {
    TakeBundle(*std::move(bundle), families_, options_, taken);
  } else if (auto bytes = cache_.ReadConfig(id, sha)) {
    TakeConfig(*std::move(bytes), families_, options_, taken);
  } else {
    return false;
  }
  if (taken.excluded == Status::kFailedResolve) return false;
  if (taken.info.config_source.empty()) taken.info.config_source = "cache";
  models_[index] = std::move(taken);
  Finish();
  return true;
}

void Resolver::FinishExcluded(std::size_t index, Status status, std::string detail) {
  if (client_) detail = client_->WithoutToken(std::move(detail));
  Exclude(models_[index], {status, std::move(detail)});
  Finish();
}

void Resolver::Finish() {
  ++done_;
  if (progress_) progress_(done_, static_cast<int>(models_.size()));
}

void Resolver::Warn(const std::string& text) {
  constexpr std::size_t kMaxWarnings = 50;
  const std::string clean = client_ ? client_->WithoutToken(text) : text;
  const bool is_new = std::find(warnings_.begin(), warnings_.end(), clean) == warnings_.end();
  if (is_new && warnings_.size() < kMaxWarnings) warnings_.push_back(clean);
}

std::vector<RankedModel> Resolver::TakeModels(std::vector<std::string>& warnings) {
  std::set<std::string> seen;
  std::vector<RankedModel> models;
  for (RankedModel& model : models_) {
    if (seen.insert(model.info.id + "@" + model.info.sha).second) {
      models.push_back(std::move(model));
    } else {
      Warn(model.info.id + " was requested twice");
    }
  }
  warnings.insert(warnings.end(), warnings_.begin(), warnings_.end());
  return models;
}

}  // namespace breakwatch::hub
