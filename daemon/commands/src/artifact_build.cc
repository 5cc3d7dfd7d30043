// `breakwatch artifact build`: fetches a model, compiles it for each target, and checks the packages.
#include <filesystem>
#include <utility>

#include "artifact_options.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/artifacts.h"
#include "commands.h"
#include "session.h"
#include "signals.h"

namespace breakwatch::commands {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInterrupted = "\nbreakwatch: interrupted; run the command again to continue\n";

// The pinned configuration of one model. Error: kNotFound with the reason why the model is excluded.
Result<RankedModel> FindModelToBuild(App& app, const std::string& name) {
  auto lister = app.make_lister(app.settings());
  if (!lister) return lister.error();
  ListRequest request = app.settings().hub.list;
  request.ids = {name};
  auto list = (*lister)->List(request, {}, [](int, int) {});
  if (!list) return list.error();
  for (const std::string& warning : list->warnings) app.log(Level::kWarn, warning);
  if (list->models.empty()) return Error{ErrorCode::kNotFound, name + ": not found"};
  RankedModel& model = list->models.front();
  if (model.excluded)
    return Error{ErrorCode::kNotFound, name + ": " + std::string(StatusName(*model.excluded)) + ": " + model.detail};
  return std::move(model);
}

CaptureJob JobOf(const RankedModel& model, const Settings& settings) {
  CaptureJob job = engine::JobFor(model.info, model.config_json);
  job.limits = settings.capture.limits;
  job.limits.capture = settings.artifact.build_timeout;
  return job;
}

// The source of the weights, in the request and in the input.
Result<void> SetWeights(const std::string& text, ArtifactRequest& request, engine::BuildInput& input) {
  request.weights = text == kRandomWeights || text == kHubWeights ? text : std::string(kDirectoryWeights);
  if (request.weights == kHubWeights) request.weights_digest = request.revision;
  if (request.weights != kDirectoryWeights) return {};
  std::error_code error;
  input.weights_folder = fs::canonical(text, error).string();
  if (error)
    return Error{ErrorCode::kUsage,
                 "--weights " + text + ": " + error.message() + "; expected random, hub or a folder"};
  auto digest = engine::DigestOfWeights(input.weights_folder);
  if (!digest) return digest.error().Within("--weights");
  request.weights_digest = *std::move(digest);
  return {};
}

struct Order {
  ArtifactRequest request;  // without its target
  engine::BuildInput input;
};

Result<Order> OrderOf(App& app, const ArtifactBuildOptions& options) {
  const auto model = FindModelToBuild(app, options.model);
  if (!model) return model.error();
  auto loop = MakeLoopOptions(app, app.settings());
  if (!loop) return loop.error();
  Order order;
  ArtifactRequest& request = order.request;
  request.model = model->info.id, request.revision = model->info.sha;
  auto structure = engine::StructureDigest(model->info, model->config_json, loop->plan, "build");
  if (!structure) return structure.error();
  request.structure = *std::move(structure);
  request.seed = options.seed, request.dtype = options.dtype, request.batch = options.batch;
  request.dynamic = options.dynamic, request.full = options.full, request.cpu_capability = options.cpu_capability;
  request.toolchain = loop->plan.toolchain;
  order.input.job = JobOf(*model, app.settings());
  order.input.job.inputs_spec_json = engine::InputsSpecOf(model->info, loop->plan);
  order.input.rebuild = ParseRebuild(options.rebuild).value_or(Rebuild::kIfNeeded);
  if (auto set = SetWeights(options.weights, request, order.input); !set) return set.error();
  return order;
}

bool Failed(const Artifact& artifact) {
  for (const StageRecord& record : artifact.stages) {
    if (!record.ok() && record.stage != Stage::kPublish) return true;
  }
  return false;
}

void PrintNext(const App& app, const std::vector<Artifact>& artifacts) {
  for (const Artifact& artifact : artifacts) {
    if (!artifact.IsChecked()) continue;
    const std::string id = artifact.key.substr(0, 12);
    Print(app, "\nFiles     " + ArtifactsFolder(app) + "/" + artifact.key +
                   "/package\nNext      breakwatch artifact publish " + id + " --to dir:PATH\n");
  }
}

}  // namespace

std::string ArtifactsFolder(const App& app) {
  std::error_code ignored;
  return (fs::absolute(app.settings().state_dir, ignored) / "artifacts").lexically_normal().string();
}

engine::ArtifactStages StagesOf(App& app, store::ArtifactStore& store) {
  engine::ArtifactParts parts{
      .store = store,
      .clock = *app.clock,
      .root = ArtifactsFolder(app),
      .make_builder = [&app](const engine::BuildFolders& folders) { return app.make_builder(app.settings(), folders); },
      .make_checker = [&app] { return app.make_checker(app.settings()); },
      .fetch_weights = [&app](const ArtifactRequest& request) -> Result<std::string> {
        auto fetcher = app.make_weights(app.settings());
        if (!fetcher) return fetcher.error();
        return (*fetcher)->Fetch(request.model, request.revision, {});
      },
      .note = [&app](std::string_view text) { Complain(app, std::string(text)); }};
  return engine::ArtifactStages(std::move(parts));
}

int RunArtifactBuild(App& app, const ArtifactBuildOptions& options) {
  const ExitOnSignals exit_on_signals(kInterrupted);
  auto order = OrderOf(app, options);
  if (!order) return Fail(app, order.error());
  auto store = app.open_store(app.settings(), /*read_only=*/false);
  if (!store) return Fail(app, store.error());
  engine::ArtifactStages stages = StagesOf(app, **store);
  std::vector<Artifact> artifacts;
  int code = kExitOk;
  for (const std::string& target : options.targets) {
    order->request.target = target;
    auto artifact = stages.RunUntil(ParseStage(options.until).value_or(Stage::kCheck), order->request, order->input);
    if (!artifact) {
      code = FirstThatApplies(code, Fail(app, artifact.error().Within(target)));
      continue;
    }
    if (Failed(*artifact)) code = FirstThatApplies(code, kExitFailure);
    if (!app.json)
      Print(app, (artifacts.empty() ? "" : "\n") + report::RenderArtifact(*artifact, FormatOf(app), StyleOf(app)));
    artifacts.push_back(*std::move(artifact));
  }
  app.json ? Print(app, report::RenderArtifacts(artifacts, report::Format::kJson)) : PrintNext(app, artifacts);
  return code;
}

}  // namespace breakwatch::commands
