#include "breakwatch/engine/artifact_stages.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "artifact_answer.h"
#include "artifact_work.h"
#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch::engine {
namespace {

constexpr std::string_view kOnnx = "onnx";

void Fail(StageRecord& record, std::string_view status, const std::string& cause, const std::string& detail) {
  record.status = status;
  record.cause = cause;
  record.detail = detail;
}

// The class of an error of a publish.
std::string CauseOf(const Error& error) {
  return error.code == ErrorCode::kStore ? "disk" : error.code == ErrorCode::kUnavailable ? "registry" : "refused";
}

// Why a package is not the one that was requested; empty: it is.
std::string Mismatch(const Manifest& manifest, const ArtifactRequest& request) {
  if (manifest.target != request.target) return "its target is " + manifest.target;
  if (manifest.model != request.model || manifest.revision != request.revision)
    return "it is of " + manifest.model + " at " + manifest.revision;
  if (manifest.batch != request.batch || manifest.dynamic != request.dynamic) return "its batch is another";
  return "";
}

std::string BuildJson(const ArtifactRequest& request, const std::string& folder, const std::string& weights) {
  return JsonText(nlohmann::json{{"targets", {request.target}},
                                 {"folder", folder},
                                 {"batch", request.batch},
                                 {"dynamic", request.dynamic},
                                 {"full", request.full},
                                 {"seed", request.seed},
                                 {"weights", weights},
                                 {"weights_kind", request.weights == kHubWeights ? kHubWeights : kDirectoryWeights},
                                 {"cpu_capability", request.cpu_capability}});
}

CaptureResult RunOne(CaptureRunner& runner, const CaptureJob& job, const Error*& unable, Error& error) {
  if (auto started = runner.Start(job); !started) {
    error = started.error();
    unable = &error;
    return {};
  }
  for (;;) {
    if (auto waited = runner.Wait(SteadyTime::max(), -1); waited.finished) return *std::move(waited.finished);
  }
}

// What a publish that was killed left of the card or the signature: a package has only the files of its manifest.
void RemoveHalfWritten(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    const bool is_one =
        name.starts_with(std::string(kCardFile) + ".") || name.starts_with(std::string(kSignatureFile) + ".");
    if (is_one) std::filesystem::remove(entry.path(), ignored);
  }
}

}  // namespace

StageRecord ArtifactStages::Begin(const Artifact& artifact, Stage stage) const {
  StageRecord record;
  record.stage = stage;
  record.status = kStageOk;
  record.started_at = parts_.clock.Now();
  record.directory = FolderOf(artifact.key);
  return record;
}

Result<StageRecord> ArtifactStages::End(const Artifact& artifact, StageRecord record, SteadyTime began) {
  record.seconds = std::chrono::duration<double>(parts_.clock.Steady() - began).count();
  record.detail = ShortLine(record.detail.empty() ? record.status : record.detail, 1000);
  if (auto recorded = parts_.store.RecordStage(artifact.key, record); !recorded) return recorded.error();
  return record;
}

Result<Artifact> ArtifactStages::RunUntil(Stage last, const ArtifactRequest& request, const BuildInput& input) {
  const auto key = parts_.store.AddArtifact(request);
  if (!key) return key.error();
  const auto lock = ArtifactLock::Take(FolderOf(*key), parts_.note);
  if (!lock) return lock.error();
  RemoveWork(FolderOf(*key));
  const auto run = [&](Stage stage, const Artifact& artifact) {
    return stage == Stage::kFetch   ? FetchLocked(artifact, input)
           : stage == Stage::kBuild ? BuildLocked(artifact, input)
                                    : CheckLocked(artifact);
  };
  for (const Stage stage : {Stage::kFetch, Stage::kBuild, Stage::kCheck}) {
    // Read again each time: this or another process has changed it.
    const auto artifact = parts_.store.FindArtifact(*key);
    if (!artifact) return artifact.error();
    const bool is_checked = stage == Stage::kCheck && artifact->IsChecked() && input.rebuild != Rebuild::kAlways;
    if (stage > last || is_checked) break;
    const auto record = run(stage, *artifact);
    if (!record) return record.error();
    if (!record->ok()) break;
  }
  return parts_.store.FindArtifact(*key);
}

Result<StageRecord> ArtifactStages::FetchLocked(const Artifact& artifact, const BuildInput& input) {
  const StageRecord* known = artifact.Find(Stage::kFetch);
  const std::string config = FolderOf(artifact.key) + "/config.json";
  std::error_code ignored;
  const bool is_there = known != nullptr && known->ok() && std::filesystem::exists(config, ignored);
  if (is_there && input.rebuild != Rebuild::kAlways && artifact.request.weights != kHubWeights) return *known;
  const SteadyTime began = parts_.clock.Steady();
  StageRecord record = Begin(artifact, Stage::kFetch);
  if (auto written = WriteWhole(config, input.job.config_json + "\n"); !written) return written.error();
  record.detail = "config.json at " + artifact.request.revision + ", random weights";
  if (artifact.request.weights == kDirectoryWeights) record.detail = "weights in " + input.weights_folder;
  if (artifact.request.weights == kHubWeights) {
    const auto folder = parts_.fetch_weights(artifact.request);
    if (!folder && folder.error().code == ErrorCode::kStore) return folder.error();
    if (!folder) {
      Fail(record, "failed_resolve", "weights", folder.error().message);
      const auto ended = End(artifact, record, began);
      return ended && folder.error().code == ErrorCode::kUnavailable ? folder.error() : ended;
    }
    record.directory = *folder;
    record.detail = "weights in " + *folder;
  }
  return End(artifact, record, began);
}

Result<StageRecord> ArtifactStages::BuildLocked(const Artifact& artifact, const BuildInput& input) {
  const std::string place = PackageOf(artifact.key);
  const StageRecord* known = artifact.Find(Stage::kBuild);
  const SteadyTime began = parts_.clock.Steady();
  StageRecord record = Begin(artifact, Stage::kBuild);
  if (input.rebuild != Rebuild::kAlways) {
    const auto there = VerifyPackage(place);
    if (there && known != nullptr && known->ok() && known->package_id == there->id) return *known;
    if (!there && there.error().code == ErrorCode::kInvalid) parts_.note(there.error().message + "; building again");
    // Another package than the recorded one is not taken: someone may have put it there. One whose comparison was not
    // recorded, for a target that only the worker checks, is built again.
    const bool unknown = (known == nullptr || !known->ok()) && artifact.request.target != kOnnx;
    if (there && unknown && Mismatch(there->manifest, artifact.request).empty()) {
      record.package_id = there->id;
      record.directory = place;
      record.detail = "found complete: an earlier run was interrupted";
      return End(artifact, record, began);
    }
  }
  const std::string work = FolderOf(artifact.key) + "/" + std::string(kWorkPrefix) + std::to_string(getpid());
  if (auto made = MakeFolder(work); !made) return made.error();
  auto compiled = Compile(artifact, input, work, record);
  if (compiled && record.ok()) {
    const std::string built = work + "/" + artifact.request.target;
    if (const auto package = VerifyPackage(built); !package) {
      Fail(record, "failed_build", "package", package.error().message);
    } else if (const std::string other = Mismatch(package->manifest, artifact.request); !other.empty()) {
      Fail(record, "failed_build", "package", "the worker built another package: " + other);
    } else {
      compiled = MoveIntoPlace(built, place);
      record.package_id = package->id;
      record.directory = place;
    }
  }
  RemoveAll(work);
  if (!compiled) return compiled.error();
  if (!record.ok() && IsAboutSpace(record.detail)) return DiskError(work, ENOSPC);
  return End(artifact, record, began);
}

Result<void> ArtifactStages::Compile(const Artifact& artifact, const BuildInput& input, const std::string& work,
                                     StageRecord& record) {
  const ArtifactRequest& request = artifact.request;
  const StageRecord* fetch = artifact.Find(Stage::kFetch);
  const std::string weights =
      request.weights == kHubWeights && fetch != nullptr ? fetch->directory : input.weights_folder;
  auto runner = parts_.make_builder({work, weights});
  if (!runner) return runner.error();
  CaptureJob job = input.job;
  job.id = "build-" + artifact.key.substr(0, 12);
  job.mode = "build";
  job.dtype = request.dtype;
  job.structure = request.structure;
  job.build_json = BuildJson(request, work, weights);
  const Error* unable = nullptr;
  Error error;
  const CaptureResult result = RunOne(**runner, job, unable, error);
  if (unable != nullptr) return error;
  (*runner)->StopAll();
  record.log = FolderOf(artifact.key) + "/build.log";
  if (auto logged = WriteWhole(record.log, LogOf(result)); !logged) return logged;
  TakeAnswer(result, request.target, record);
  return {};
}

Result<Package> ArtifactStages::BuiltPackage(const Artifact& artifact) {
  const std::string built = artifact.PackageId();
  auto package = VerifyPackage(PackageOf(artifact.key));
  if (!package) return package;
  if (package->id == built) return package;
  return Error{ErrorCode::kInvalid, package->folder + " is package " + package->id + ", but " + built + " was built"};
}

Result<StageRecord> ArtifactStages::Check(const std::string& key) {
  const auto lock = ArtifactLock::Take(FolderOf(key), parts_.note);
  if (!lock) return lock.error();
  const auto artifact = parts_.store.FindArtifact(key);
  return artifact ? CheckLocked(*artifact) : artifact.error();
}

Result<StageRecord> ArtifactStages::CheckLocked(const Artifact& artifact) {
  if (auto due = parts_.store.StageIsDue(artifact.key, Stage::kCheck); !due) return due.error();
  const SteadyTime began = parts_.clock.Steady();
  StageRecord record = Begin(artifact, Stage::kCheck);
  record.package_id = artifact.PackageId();
  record.directory = PackageOf(artifact.key);
  const auto package = BuiltPackage(artifact);
  if (!package && package.error().code == ErrorCode::kStore) return package.error();
  if (!package) {
    Fail(record, "failed_check", "refused", package.error().message);
    return End(artifact, record, began);
  }
  const auto verdict = Judge(artifact, *package);
  if (!verdict) return verdict.error();
  TakeVerdict(*verdict, record);
  record.log = FolderOf(artifact.key) + "/check.json";
  if (auto logged = WriteWhole(record.log, verdict->report_json + "\n"); !logged) return logged.error();
  return End(artifact, record, began);
}

Result<PackageVerdict> ArtifactStages::Judge(const Artifact& artifact, const Package& package) {
  // A comparison that the worker made and that failed counts for every target.
  const auto recorded = RecordedVerdict(*artifact.Find(Stage::kBuild));
  const bool is_onnx = artifact.request.target == kOnnx;
  if (recorded && (is_onnx || recorded->status != kStageOk)) return *recorded;
  if (is_onnx)
    return PackageVerdict{"failed_check", "the build recorded no comparison; build it again with --rebuild always",
                          "{}"};
  auto checker = parts_.make_checker();
  if (!checker) return checker.error();
  return (*checker)->Check(package.folder);
}

Result<StageRecord> ArtifactStages::Publish(const std::string& key, ArtifactRegistry& registry,
                                            const PublishInput& input) {
  const auto lock = ArtifactLock::Take(FolderOf(key), parts_.note);
  if (!lock) return lock.error();
  const auto artifact = parts_.store.FindArtifact(key);
  if (!artifact) return artifact.error();
  if (auto due = parts_.store.StageIsDue(key, Stage::kPublish); !due) return due.error();
  return PublishLocked(*artifact, registry, input);
}

Result<StageRecord> ArtifactStages::PublishLocked(const Artifact& artifact, ArtifactRegistry& registry,
                                                  const PublishInput& input) {
  const SteadyTime began = parts_.clock.Steady();
  StageRecord record = Begin(artifact, Stage::kPublish);
  record.place = registry.Place();
  record.package_id = artifact.PackageId();
  record.directory = PackageOf(artifact.key);
  const auto send = [&]() -> Result<std::string> {
    RemoveHalfWritten(PackageOf(artifact.key));
    const auto package = BuiltPackage(artifact);
    if (!package) return package.error();
    if (auto written = WriteWhole(package->folder + "/" + std::string(kCardFile), input.card(*package)); !written)
      return written.error();
    if (input.sign) {
      const auto signature = input.sign(*package);
      if (!signature) return signature;
      if (auto written = WriteWhole(package->folder + "/" + std::string(kSignatureFile), *signature + "\n"); !written)
        return written.error();
    }
    const auto files = AllFilesOf(*package);
    if (!files) return files.error();
    return registry.Publish(*package, *files);
  };
  const auto reference = send();
  if (reference) {
    record.reference = *reference;
    record.detail = "published as " + *reference;
  } else {
    Fail(record, "failed_publish", CauseOf(reference.error()), reference.error().message);
  }
  const auto ended = End(artifact, record, began);
  if (ended && !reference) return reference.error();
  return ended;
}

}  // namespace breakwatch::engine
