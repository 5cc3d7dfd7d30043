// ArtifactStages: runs the stages of artifacts, each alone or one after the other, and stores how each ended.
//
// The files of an artifact are in <root>/<key>/:
//   lock            held while a process works on the artifact
//   config.json     what was fetched
//   work-<pid>/     a package being made; removed by the next process that takes the lock
//   package/        the complete package: it appears by a rename
//   build.log, check.json
//
// Owner: one command. Thread: the command's. A stage that fails is a record, not an Error.
// Error: kStore if a disk is full or not writable (with the folder) or the store fails; kUnavailable if a registry does
// not answer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/artifact_registry.h"
#include "breakwatch/core/capture_runner.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/package_checker.h"
#include "breakwatch/core/plan.h"
#include "breakwatch/core/result.h"
#include "breakwatch/store/artifacts.h"

namespace breakwatch::engine {

// What a worker that builds may use besides its sandbox.
struct BuildFolders {
  std::string writable;  // absolute
  std::string readable;  // of weights, absolute; empty: none
};

struct ArtifactParts {
  store::ArtifactStore& store;
  const Clock& clock;
  std::string root;  // absolute
  std::function<Result<std::unique_ptr<CaptureRunner>>(const BuildFolders&)> make_builder;
  std::function<Result<std::unique_ptr<PackageChecker>>()> make_checker;
  // Fetches the weights of the Hub and returns their folder.
  std::function<Result<std::string>(const ArtifactRequest&)> fetch_weights;
  std::function<void(std::string_view)> note;  // a line for the operator
};

// What is fetched and built besides the request.
struct BuildInput {
  CaptureJob job;              // the model; mode, id, structure, dtype and build_json are set by the stage
  std::string weights_folder;  // of weights from a directory; else empty
  Rebuild rebuild = Rebuild::kIfNeeded;
};

struct PublishInput {
  std::function<std::string(const Package&)> card;          // the text of README.md
  std::function<Result<std::string>(const Package&)> sign;  // empty: no signature
};

// The right to work on one artifact: a kernel lock, which ends with its process.
class ArtifactLock {
 public:
  // Creates the folder. If another process has the lock, says which (`note`) and waits until it ends.
  static Result<ArtifactLock> Take(const std::string& folder, const std::function<void(std::string_view)>& note);
  // The same without waiting. Error: kUnavailable, retryable, if another process has it.
  static Result<ArtifactLock> TryTake(const std::string& folder);
  ArtifactLock(ArtifactLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ArtifactLock& operator=(ArtifactLock&&) = delete;
  ~ArtifactLock();

 private:
  explicit ArtifactLock(int fd) : fd_(fd) {}
  int fd_;
};

class ArtifactStages {
 public:
  explicit ArtifactStages(ArtifactParts parts) : parts_(std::move(parts)) {}

  std::string FolderOf(const std::string& key) const { return parts_.root + "/" + key; }
  std::string PackageOf(const std::string& key) const { return FolderOf(key) + "/package"; }

  // Fetches, builds and checks, up to `last`, what is not done yet. Takes the lock. Returns the artifact with its
  // records; it ends with the first stage that fails.
  Result<Artifact> RunUntil(Stage last, const ArtifactRequest& request, const BuildInput& input);
  // Checks the package that was built, again if it was. Takes the lock.
  Result<StageRecord> Check(const std::string& key);
  // Publishes a checked package. A failure is recorded, and also returned as the registry's Error. Takes the lock.
  Result<StageRecord> Publish(const std::string& key, ArtifactRegistry& registry, const PublishInput& input);

 private:
  Result<StageRecord> FetchLocked(const Artifact& artifact, const BuildInput& input);
  Result<StageRecord> BuildLocked(const Artifact& artifact, const BuildInput& input);
  Result<StageRecord> CheckLocked(const Artifact& artifact);
  Result<StageRecord> PublishLocked(const Artifact& artifact, ArtifactRegistry& registry, const PublishInput& input);
  // Compiles into `work`. Returns the target's answer in `record`.
  Result<void> Compile(const Artifact& artifact, const BuildInput& input, const std::string& work, StageRecord& record);
  // The package of an artifact as its build left it, verified; the record says why not.
  Result<Package> BuiltPackage(const Artifact& artifact);
  // By the worker's own comparison, or by the checker.
  Result<PackageVerdict> Judge(const Artifact& artifact, const Package& package);
  StageRecord Begin(const Artifact& artifact, Stage stage) const;
  Result<StageRecord> End(const Artifact& artifact, StageRecord record, SteadyTime began);

  ArtifactParts parts_;
};

struct Collected {
  std::vector<Artifact> removed;
  std::int64_t bytes = 0;            // of the removed packages
  int abandoned = 0;                 // folders of builds that ended without a package
  std::vector<std::string> skipped;  // keys that another process works on
};

struct CollectOptions {
  int keep_last = 0;           // packages of each model and target, the newest; 0: any number
  std::int64_t max_bytes = 0;  // of all packages together, the newest first; 0: any number
  bool dry_run = false;
};

// Removes packages and their records that exceed the options, and what killed processes left behind. Error: kStore.
Result<Collected> CollectArtifacts(store::ArtifactStore& store, const std::string& root, const CollectOptions& options);

// SHA-256 over the names and contents of the safetensors files of a folder. Error: kUsage if it has none.
Result<std::string> DigestOfWeights(const std::string& folder);

}  // namespace breakwatch::engine
