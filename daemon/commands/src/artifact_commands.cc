// `breakwatch artifact` check, publish, pull, verify, ls, show and gc.
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "artifact_options.h"
#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/package.h"
#include "breakwatch/core/signature.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/artifacts.h"
#include "commands.h"
#include "signals.h"

namespace breakwatch::commands {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* kInterrupted = "\nbreakwatch: interrupted; run the command again to continue\n";

// The signature beside a manifest. Error: kInvalid if there is none or it is not by this key.
Result<void> VerifySignature(const Package& package, const std::string& public_key) {
  if (public_key.empty()) return {};
  const std::string path = package.folder + "/" + std::string(kSignatureFile);
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return Error{ErrorCode::kInvalid, package.folder + " is not signed"};
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  const auto verified = VerifyEd25519(package.manifest_text, text.str(), public_key);
  return verified ? verified : verified.error().Within(package.folder);
}

// What the command prints about a package that is as its manifest says.
std::string VerifiedText(const App& app, const Package& package, bool is_signed) {
  if (app.json) {
    return JsonDocument(ordered_json{{"package_id", package.id},
                                     {"folder", package.folder},
                                     {"model", package.manifest.model},
                                     {"revision", package.manifest.revision},
                                     {"target", package.manifest.target},
                                     {"bytes", package.Bytes()},
                                     {"signed", is_signed}},
                        2);
  }
  return "package  " + package.id + "\nmodel    " + package.manifest.model + " at " + package.manifest.revision +
         "\ntarget   " + package.manifest.target + "\nfolder   " + package.folder + "\nverified " +
         Counted(package.manifest.files.size(), "file") + ", " + std::to_string(package.Bytes()) + " bytes" +
         (is_signed ? ", signature" : "") + "\n";
}

// The artifact after a stage, and the exit code of the stage.
int PrintStage(App& app, store::ArtifactStore& store, const std::string& key, const Result<StageRecord>& record) {
  const auto artifact = store.FindArtifact(key);
  if (artifact) Print(app, report::RenderArtifact(*artifact, FormatOf(app), StyleOf(app)));
  if (!record) return Fail(app, record.error());
  if (!artifact) return Fail(app, artifact.error());
  return record->ok() ? kExitOk : kExitFailure;
}

// Runs `act(store, artifact)` on the artifact of an id.
template <class Act>
int WithArtifact(App& app, const std::string& id, bool read_only, const Act& act) {
  auto store = app.open_store(app.settings(), read_only);
  if (!store) return Fail(app, store.error());
  const auto artifact = (*store)->FindArtifact(id);
  return artifact ? act(**store, *artifact) : Fail(app, artifact.error());
}

// The folder without a slash at its end, so that a name can be appended.
std::string OutputFolder(const std::string& output) {
  const fs::path path = fs::path(output).lexically_normal();
  return path.has_filename() ? path.string() : path.parent_path().string();
}

// What killed pulls into the same folder left. A process that runs keeps its folder.
void RemoveAbandonedPulls(const std::string& prefix) {
  const fs::path path(prefix), parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string name = path.filename();
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(parent, error)) {
    const std::string found = entry.path().filename();
    if (!found.starts_with(name)) continue;
    const pid_t owner = std::atoi(found.c_str() + name.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) RemoveAll(entry.path().string());
  }
}

// Fetches into a folder of its own, verifies, and renames.
Result<Package> PullInto(ArtifactRegistry& registry, const ArtifactOptions& options) {
  const std::string output = OutputFolder(options.output), prefix = output + ".pull-";
  const std::string work = prefix + std::to_string(getpid());
  RemoveAbandonedPulls(prefix);
  RemoveAll(work);
  if (auto made = MakeFolder(work); !made) return made.error();
  const auto pull = [&]() -> Result<Package> {
    if (auto pulled = registry.Pull({options.id, options.model, options.target}, work); !pulled) return pulled.error();
    auto package = VerifyPackage(work);
    if (!package) return package;
    if (auto verified = VerifySignature(*package, options.public_key); !verified) return verified.error();
    if (const auto there = VerifyPackage(output); there && there->id == package->id) return there;
    std::error_code ignored;
    if (fs::exists(output, ignored) && !fs::is_empty(output, ignored))
      return Error{ErrorCode::kUsage, output + " exists and is another package; choose another --output"};
    if (auto moved = MoveIntoPlace(work, output); !moved) return moved.error();
    package->folder = output;
    return package;
  };
  auto package = pull();
  RemoveAll(work);
  return package;
}

std::string CollectedText(const engine::Collected& collected, bool dry_run) {
  std::string text;
  for (const Artifact& artifact : collected.removed)
    text += artifact.key.substr(0, 12) + "  " + artifact.request.model + "  " + artifact.request.target + "\n";
  for (const std::string& key : collected.skipped)
    text += key.substr(0, 12) + "  skipped: another process works on it\n";
  return text + (dry_run ? "would remove " : "removed ") + Counted(collected.removed.size(), "artifact") + ", " +
         std::to_string(collected.bytes) + " bytes, " + Counted(collected.abandoned, "unfinished build") + "\n";
}

ordered_json CollectedJson(const engine::Collected& collected, bool dry_run) {
  ordered_json removed = ordered_json::array();
  for (const Artifact& artifact : collected.removed) removed.push_back(artifact.key);
  return {{"dry_run", dry_run},
          {"removed", std::move(removed)},
          {"skipped", collected.skipped},
          {"bytes", collected.bytes},
          {"unfinished_builds", collected.abandoned}};
}

}  // namespace

int RunArtifactCheck(App& app, const ArtifactOptions& options) {
  const ExitOnSignals exit_on_signals(kInterrupted);
  return WithArtifact(app, options.id, false, [&](store::Store& store, const Artifact& artifact) {
    return PrintStage(app, store, artifact.key, StagesOf(app, store).Check(artifact.key));
  });
}

int RunArtifactPublish(App& app, const ArtifactOptions& options) {
  const ExitOnSignals exit_on_signals(kInterrupted);
  auto registry = app.make_registry(app.settings(), options.registry);
  if (!registry) return Fail(app, registry.error());
  return WithArtifact(app, options.id, false, [&](store::Store& store, const Artifact& artifact) {
    const auto results =
        store.NewestResults({.model = artifact.request.model, .mode = "eval", .toolchain = {}, .revision = {}});
    const ModelResult* newest = results && !results->empty() ? &results->front() : nullptr;
    engine::PublishInput input;
    input.card = [&](const Package& package) { return report::ModelCard(package, artifact, newest); };
    if (!options.sign_key.empty())
      input.sign = [&](const Package& package) { return SignEd25519(package.manifest_text, options.sign_key); };
    return PrintStage(app, store, artifact.key, StagesOf(app, store).Publish(artifact.key, **registry, input));
  });
}

int RunArtifactPull(App& app, const ArtifactOptions& options) {
  const ExitOnSignals exit_on_signals(kInterrupted);
  auto registry = app.make_registry(app.settings(), options.registry);
  if (!registry) return Fail(app, registry.error());
  const auto package = PullInto(**registry, options);
  if (!package) return Fail(app, package.error());
  Print(app, VerifiedText(app, *package, !options.public_key.empty()));
  return kExitOk;
}

int RunArtifactVerify(App& app, const ArtifactOptions& options) {
  const ExitOnSignals exit_on_signals;
  std::string folder = options.id;
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    auto store = app.open_store(app.settings(), /*read_only=*/true);
    if (!store) return Fail(app, store.error().Within(options.id + " is no folder"));
    const auto artifact = (*store)->FindArtifact(options.id);
    if (!artifact) return Fail(app, artifact.error());
    folder = ArtifactsFolder(app) + "/" + artifact->key + "/package";
  }
  const auto package = VerifyPackage(folder);
  if (!package) return Fail(app, package.error());
  if (auto verified = VerifySignature(*package, options.public_key); !verified) return Fail(app, verified.error());
  Print(app, VerifiedText(app, *package, !options.public_key.empty()));
  return kExitOk;
}

int RunArtifactLs(App& app, const ArtifactOptions& options) {
  if (!options.registry.empty()) {
    const ExitOnSignals exit_on_signals;
    auto registry = app.make_registry(app.settings(), options.registry);
    if (!registry) return Fail(app, registry.error());
    auto packages = (*registry)->List();
    if (!packages) return Fail(app, packages.error());
    std::erase_if(*packages, [&](const PublishedPackage& p) {
      return (!options.model.empty() && p.model != options.model) ||
             (!options.target.empty() && p.target != options.target);
    });
    if (packages->size() > static_cast<std::size_t>(options.limit))
      packages->resize(static_cast<std::size_t>(options.limit));
    Print(app, report::RenderPublished(*packages, FormatOf(app), StyleOf(app)));
    return kExitOk;
  }
  auto store = app.open_store(app.settings(), /*read_only=*/true);
  if (!store) return Fail(app, store.error());
  const auto artifacts = (*store)->Artifacts(options.model, options.target, options.limit);
  if (!artifacts) return Fail(app, artifacts.error());
  Print(app, report::RenderArtifacts(*artifacts, FormatOf(app), StyleOf(app)));
  return kExitOk;
}

int RunArtifactShow(App& app, const ArtifactOptions& options) {
  return WithArtifact(app, options.id, true, [&](store::Store&, const Artifact& artifact) {
    Print(app, report::RenderArtifact(artifact, FormatOf(app), StyleOf(app)));
    return kExitOk;
  });
}

int RunArtifactGc(App& app, const ArtifactOptions& options) {
  const ExitOnSignals exit_on_signals;
  if (options.collect.keep_last == 0 && options.collect.max_bytes == 0)
    return Fail(app, {ErrorCode::kUsage, "expected --keep-last or --max-bytes"});
  auto store = app.open_store(app.settings(), /*read_only=*/false);
  if (!store) return Fail(app, store.error());
  const auto collected = engine::CollectArtifacts(**store, ArtifactsFolder(app), options.collect);
  if (!collected) return Fail(app, collected.error());
  const bool dry_run = options.collect.dry_run;
  Print(app, app.json ? JsonDocument(CollectedJson(*collected, dry_run), 2) : CollectedText(*collected, dry_run));
  return kExitOk;
}

}  // namespace breakwatch::commands
