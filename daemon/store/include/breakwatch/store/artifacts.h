// ArtifactStore: compiled packages and how far each came: a row for each artifact, and one for each of its stages.
//
// The store enforces the order of stages, so that no command can check what was not built, or publish what was not
// checked. Writers: commands; they need no writer lock of sweeps. Owner, thread and errors: store.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/result.h"

namespace breakwatch::store {

class ArtifactStore {
 public:
  virtual ~ArtifactStore() = default;

  // Adds the artifact of a request, unless it is there. Returns its key.
  virtual Result<std::string> AddArtifact(const ArtifactRequest& request) = 0;
  // Replaces the stage's record. A build of another package than before removes the record of the check. Error:
  // kInvalid if the stage is not due, with the stage that is: a build needs a good fetch; a check needs a good build of
  // the same package; a publish needs a good check of the same package. kNotFound if there is no such artifact.
  virtual Result<void> RecordStage(const std::string& key, const StageRecord& record) = 0;
  // Would RecordStage accept a good record of this stage now? Error: as RecordStage.
  virtual Result<void> StageIsDue(const std::string& key, Stage stage) = 0;

  // The newest first, at most `limit`. `model`, `target`: only these; empty: any.
  virtual Result<std::vector<Artifact>> Artifacts(const std::string& model, const std::string& target, int limit) = 0;
  // By key or package id, or the first 6 or more digits of one. Error: kNotFound; kInvalid if several match.
  virtual Result<Artifact> FindArtifact(const std::string& id) = 0;
  // Removes the artifact with its stages; it is no error if there is none.
  virtual Result<void> RemoveArtifact(const std::string& key) = 0;
  // Numbers of artifacts by target and Artifact::State().
  virtual Result<std::map<std::pair<std::string, std::string>, std::int64_t>> CountArtifacts() = 0;
};

}  // namespace breakwatch::store
