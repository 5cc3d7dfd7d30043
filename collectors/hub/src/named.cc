// The first step for a model requested by name: asks the Hub for its commit and its info.
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "hub_errors.h"
#include "listing.h"
#include "model_id.h"
#include "resolver.h"

namespace breakwatch::hub {

void Resolver::StartNamed(std::size_t index) {
  const auto named = ParseNamedModel(named_[index]);
  ModelInfo& info = models_[index].info;
  if (!named) {
    info.id = named_[index];
    return FinishExcluded(index, Status::kSkippedNotFound, "\"" + named_[index] + "\" is not a model id");
  }
  info.id = named->id;
  revisions_[index] = named->revision;
  if (IsCommit(named->revision)) {
    info.sha = named->revision;
    if (TakeCached(index, info.sha)) return;
  }
  if (client_) {
    std::string path = "/api/models/" + named->id;
    if (!named->revision.empty()) path += "/revision/" + net::PercentEncode(named->revision);
    client_->Get(Kind::kInfo, path + "?" + ExpandQuery(),
                 [this, index](Answer answer) { TakeInfo(index, std::move(answer)); });
    return;
  }
  const auto sha = cache_.ReadRef(named->id, Revision(index));
  if (!sha) {
    return FinishExcluded(index, Status::kFailedResolve,
                          "offline, and the cache has no commit of " + named->id + " at " + Revision(index));
  }
  info.sha = *sha;
  StartConfig(index);
}

void Resolver::TakeInfo(std::size_t index, Answer answer) {
  if (!answer && answer.error().code == ErrorCode::kInterrupted) return;
  if (answer && answer->status == 200) return TakeInfoBody(index, answer->body);
  if (IsOutage(answer)) return TakeOutage(index, answer);
  if (!answer) return FinishExcluded(index, Status::kFailedResolve, answer.error().message);
  Exclusion exclusion = ExplainAnswer(*answer, models_[index].info.id, revisions_[index], options_);
  FinishExcluded(index, exclusion.status, std::move(exclusion.detail));
}

void Resolver::TakeInfoBody(std::size_t index, const std::string& body) {
  constexpr std::size_t kMaxBytes = 16u << 20;
  constexpr int kMaxDepth = 64;
  const Result<Json> json = ParseJson(body, kMaxBytes, kMaxDepth);
  const Result<ListedModel> model = json ? ReadListedModel(*json, families_) : Result<ListedModel>(json.error());
  if (!model) {
    return FinishExcluded(index, Status::kFailedResolve,
                          "invalid answer of the Hub about the model: " + model.error().message);
  }
  ModelInfo& info = models_[index].info;
  const std::string requested = info.id;
  const std::string pinned = info.sha;
  info = model->info;
  if (info.id != requested) info.requested_id = requested;
  if (info.sha.empty()) info.sha = pinned;
  StartConfig(index);
}

}  // namespace breakwatch::hub
