// Resolver: turns listed or named models into entries that are ready to capture or excluded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/model_lister.h"
#include "breakwatch/hub/hub_options.h"
#include "cache.h"
#include "families.h"
#include "hub_client.h"
#include "listed_model.h"

namespace breakwatch::hub {

// Owner: one List call. Thread: the caller's. Add models, run the client, then take the results.
class Resolver {
 public:
  // `client` is null offline. All references must outlive it.
  Resolver(const ListRequest& request, const HubOptions& options, const FamilyTable& families, const HubCache& cache,
           HubClient* client, const ModelLister::Progress& progress);

  void AddListed(ModelInfo info);
  void AddNamed(const std::string& text);  // "id" or "id@revision"
  // Requests everything added that the cache does not have.
  void Start();

  // The cause if the Hub failed for every model and the cache had none. Valid after the client ran.
  const std::optional<Error>& outage() const { return outage_; }
  bool FailedWholly() const { return outage_ && outages_ == static_cast<int>(models_.size()); }

  // In the order added, each id and commit once.
  std::vector<RankedModel> TakeModels(std::vector<std::string>& warnings);

 private:
  using Answer = HubClient::Answer;

  void StartNamed(std::size_t index);
  void TakeInfo(std::size_t index, Answer answer);
  void TakeInfoBody(std::size_t index, const std::string& body);
  void StartConfig(std::size_t index);
  void StartSingleConfig(std::size_t index);
  // A diffusers pipeline: model_index.json, then each component's config.json. It may prove to be a single model.
  void StartPipeline(std::size_t index);
  void TakePipelineIndex(std::size_t index, Answer answer);
  void StartComponents(std::size_t index, const std::string& model_index);
  void TakeComponent(std::size_t index, const std::string& component, Answer answer);
  void FinishPipeline(std::size_t index);
  std::optional<std::string> CachedBundle(const std::string& id, const std::string& sha) const;
  void TakeAnswer(std::size_t index, Answer answer);
  void TakeFile(std::size_t index, const net::HttpResponse& response);
  void TakeOutage(std::size_t index, const Answer& answer);
  bool TakeCached(std::size_t index, const std::string& sha);
  bool TakeCachedRef(std::size_t index, const std::string& why);
  void Keep(const RankedModel& model, const net::HttpResponse& response, const std::string& bytes,
            const std::string& file = kConfigFile);
  void KeepAbsent(const RankedModel& model, const net::HttpResponse& response, const std::string& file);
  Result<void> TakeCommit(std::size_t index, const net::HttpResponse& response, const std::string& file);
  void Finish();
  void FinishExcluded(std::size_t index, Status status, std::string detail);
  std::string Revision(std::size_t index) const;
  void Warn(const std::string& text);

  const ListRequest& request_;
  const HubOptions& options_;
  const FamilyTable& families_;
  const HubCache& cache_;
  HubClient* const client_;
  const ModelLister::Progress& progress_;
  std::vector<RankedModel> models_;
  std::vector<std::string> named_;      // parallel to models_: the requested text, empty for a listed model
  std::vector<std::string> revisions_;  // parallel to models_: the requested revision, empty for the default branch
  struct Pipeline {
    std::string model_index;
    std::map<std::string, std::string> configs;  // by component
    std::size_t waiting = 0;
  };
  std::map<std::size_t, Pipeline> pipelines_;  // in progress; one that ended early is removed
  int done_ = 0;
  int outages_ = 0;
  std::optional<Error> outage_;
  std::vector<std::string> warnings_;
};

}  // namespace breakwatch::hub
