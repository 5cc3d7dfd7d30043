// The options of `breakwatch artifact`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"

namespace breakwatch::commands {

struct ArtifactBuildOptions {
  std::string model;
  std::vector<std::string> targets{"aot_inductor"};
  std::string weights = "random";  // "random", "hub" or a folder
  std::int64_t seed = 0;
  std::string dtype = "float32", cpu_capability, rebuild = "if-needed", until = "check";
  int batch = 1;
  bool dynamic = false, full = false;
};
int RunArtifactBuild(App& app, const ArtifactBuildOptions& options);

struct ArtifactOptions {
  std::string id;                    // of an artifact, or its first digits; verify: or a folder
  std::string registry;              // --to, --from, or a reference
  std::string model, target;         // selects packages
  std::string output;                // of pull
  std::string sign_key, public_key;  // PEM files
  int limit = 50;
  engine::CollectOptions collect;
};
int RunArtifactCheck(App& app, const ArtifactOptions& options);
int RunArtifactPublish(App& app, const ArtifactOptions& options);
int RunArtifactPull(App& app, const ArtifactOptions& options);
int RunArtifactVerify(App& app, const ArtifactOptions& options);
int RunArtifactLs(App& app, const ArtifactOptions& options);
int RunArtifactShow(App& app, const ArtifactOptions& options);
int RunArtifactGc(App& app, const ArtifactOptions& options);

// The stages of this app's artifacts, on its store and folder. `app` and `store` must outlive them.
engine::ArtifactStages StagesOf(App& app, store::ArtifactStore& store);
// <state_dir>/artifacts, absolute.
std::string ArtifactsFolder(const App& app);

}  // namespace breakwatch::commands
