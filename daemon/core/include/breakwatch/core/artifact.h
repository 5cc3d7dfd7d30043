// Artifact: a compiled package of one model for one target, and the stages that make it: fetch, build, check, publish.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/clock.h"

namespace breakwatch {

enum class Stage { kFetch, kBuild, kCheck, kPublish };

// In the order of work.
std::span<const Stage> AllStages();
std::string_view StageName(Stage stage);  // "fetch", "build", "check", "publish"
std::optional<Stage> ParseStage(std::string_view name);

// Where the weights of an artifact come from.
inline constexpr std::string_view kRandomWeights = "random", kDirectoryWeights = "directory", kHubWeights = "hub";

// All that determines an artifact. Equal requests have one key, and are built once.
struct ArtifactRequest {
  std::string model, revision;
  std::string structure;  // digest
  std::string target;     // "aot_inductor", "torchscript", "onnx"
  std::string weights{kRandomWeights};
  std::string weights_digest;  // of a directory: SHA-256 of its content; of the Hub: the commit; random: empty
  std::int64_t seed = 0;       // of random weights and of the recorded inputs
  std::string dtype = "float32";
  int batch = 1;
  bool dynamic = false;        // the batch is a symbol
  bool full = false;           // the configuration as published, not the reduced one
  std::string cpu_capability;  // "": that of the machine that builds, "avx2", "default"
  Toolchain toolchain;
};

// SHA-256 of the request as canonical JSON, 64 hex digits.
std::string BuildKey(const ArtifactRequest& request);

// The status of a stage that succeeded. Any other is the name of a Status.
inline constexpr std::string_view kStageOk = "ok";

// How a stage of an artifact ended, the last time that it ran.
struct StageRecord {
  Stage stage = Stage::kFetch;
  std::string place;       // publish: the registry, "dir:/srv/models"; else empty
  std::string status;      // kStageOk or the name of a Status
  std::string detail;      // one line, never empty
  std::string cause;       // class of error of a failure: "export", "compiler", "registry", ...; may be empty
  std::string package_id;  // the package that was built, checked or published; empty if there is none
  std::string reference;   // publish: what others pull, "dir:/srv/models@sha256:..."; else empty
  SystemTime started_at{};
  double seconds = 0;
  std::string directory;    // of the stage's files
  std::string log;          // path; empty: none
  std::string report_json;  // what the stage found: JSON object; empty: nothing

  bool ok() const { return status == kStageOk; }
};

struct Artifact {
  std::string key;  // BuildKey(request)
  ArtifactRequest request;
  SystemTime created_at{};
  std::vector<StageRecord> stages;  // in the order of work; a publish for each registry, by name

  // The record of a stage other than publish; null if it did not run.
  const StageRecord* Find(Stage stage) const;
  // The package of the newest build; empty if none succeeded.
  std::string PackageId() const;
  // The package that was built passed its check.
  bool IsChecked() const;
  // What it can be summed up by: "fetched", "built", "checked", "published", the status of the first stage that failed,
  // or "requested" if no stage ran.
  std::string State() const;
};

// One file of a package, as its manifest lists it.
struct PackageFile {
  std::string path;  // a plain name
  std::string sha256;
  std::int64_t bytes = 0;
};

// The fields of manifest.json that the daemon uses. Other fields are kept in the file.
struct Manifest {
  int schema = 0;
  std::string model, revision, family, architecture, model_type, task, target;
  std::vector<PackageFile> files;  // all but manifest.json
  std::string torch, torch_abi, transformers, python, worker, cpu_capability, device, dtype, size;
  std::string weights_json, inputs_json, outputs_json, tolerance_json;  // as in the file
  int batch = 1;
  bool dynamic = false;
  std::string structure;
  std::optional<std::int64_t> breaks, graphs;
  std::string built_at;
};

// The version of manifest.json that this program reads.
inline constexpr int kManifestSchema = 1;

}  // namespace breakwatch
