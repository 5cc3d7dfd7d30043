// The flags of `breakwatch artifact`.
#include "artifact_options.h"
#include "command_line.h"

namespace breakwatch::commands {
namespace {

void AddArtifactBuild(CommandLine& line, CLI::App* parent) {
  auto o = std::make_shared<ArtifactBuildOptions>();
  auto* build = AddNested(
      line, parent, "build", "Fetch a model, compile it to packages, and check them",
      [o](App& app) { return RunArtifactBuild(app, *o); }, true);
  build->add_option("model", o->model, "Id of the model, id@revision")->required();
  build
      ->add_option("--target", o->targets,
                   "What to compile to: aot_inductor, torchscript, onnx, tensorrt, neuron; separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"aot_inductor", "torchscript", "onnx", "tensorrt", "neuron"}))
      ->allow_extra_args(false)
      ->capture_default_str();
  build->add_option("--weights", o->weights, "random, hub (of the pinned commit), or a folder with safetensors files")
      ->capture_default_str();
  build->add_option("--seed", o->seed, "Random seed of weights and recorded inputs")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{2'147'483'647}))
      ->capture_default_str();
  build->add_option("--dtype", o->dtype, "Data type of the weights")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}))
      ->capture_default_str();
  build->add_option("--batch", o->batch, "Batch size of the recorded inputs")
      ->check(CLI::Range(1, 4'096))
      ->capture_default_str();
  build->add_flag("--dynamic", o->dynamic, "Compile for any batch size from 2 on");
  build->add_flag("--full", o->full, "Compile the configuration as published instead of the reduced model");
  build->add_option("--cpu-capability", o->cpu_capability, "Vector instructions to use; default: this machine's")
      ->check(CLI::IsMember({"avx512", "avx2", "default"}));
  build->add_option("--rebuild", o->rebuild, "When to build a package that exists: if-needed or always")
      ->check(CLI::IsMember({"if-needed", "always"}))
      ->capture_default_str();
  build->add_option("--until", o->until, "Last stage to run: fetch, build or check")
      ->check(CLI::IsMember({"fetch", "build", "check"}))
      ->capture_default_str();
}

struct ArtifactCommand {
  CLI::App* command;
  std::shared_ptr<ArtifactOptions> options;
};

ArtifactCommand AddArtifactCommand(CommandLine& line, CLI::App* parent, const char* name, const char* doc,
                                   int (*run)(App&, const ArtifactOptions&), const char* id_doc = nullptr) {
  auto o = std::make_shared<ArtifactOptions>();
  auto* command = AddNested(
      line, parent, name, doc, [o, run](App& app) { return run(app, *o); }, true);
  if (id_doc != nullptr) command->add_option("id", o->id, id_doc)->required();
  return {command, std::move(o)};
}

void AddArtifactFilter(CLI::App* command, ArtifactOptions& o) {
  command->add_option("--model", o.model, "Only packages of this model");
  command->add_option("--target", o.target, "Only packages for this target");
}

}  // namespace

void AddArtifacts(CommandLine& line) {
  constexpr const char* kId = "Id of the artifact or its package, or its first 6 or more digits";
  CLI::App* parent = AddParent(line, "artifact", "Build, check, publish and fetch compiled packages of models");
  AddArtifactBuild(line, parent);
  AddArtifactCommand(line, parent, "check", "Load a package and compare its outputs with the recorded ones",
                     RunArtifactCheck, kId);
  auto [publish, p] =
      AddArtifactCommand(line, parent, "publish", "Copy a checked package to a registry", RunArtifactPublish, kId);
  publish->add_option("--to", p->registry, "dir:PATH, mlflow:URL or oci:HOST/REPOSITORY[:TAG]")->required();
  publish->add_option("--sign-key", p->sign_key, "Sign the manifest with this ed25519 key (PEM)");
  auto [pull, u] = AddArtifactCommand(line, parent, "pull", "Fetch a package from a registry", RunArtifactPull);
  pull->add_option("from", u->registry, "Registry, as --to of publish, or the reference that publish printed")
      ->required();
  pull->add_option("--output", u->output, "Folder to create")->required();
  pull->add_option("--id", u->id, "Only the package with this id, or its first digits");
  AddArtifactFilter(pull, *u);
  pull->add_option("--public-key", u->public_key, "Refuse packages that are not signed by this ed25519 key (PEM)");
  auto [verify, v] = AddArtifactCommand(line, parent, "verify", "Compare the files of a package with its manifest",
                                        RunArtifactVerify, "Folder of a package, or id of an artifact");
  verify->add_option("--public-key", v->public_key, "Also verify the signature with this ed25519 key (PEM)");
  auto [ls, l] = AddArtifactCommand(line, parent, "ls", "List artifacts, the newest first", RunArtifactLs);
  ls->add_option("--from", l->registry, "List the packages in this registry");
  ls->add_option("--limit", l->limit, "Print at most this many")->check(CLI::Range(1, 100'000))->capture_default_str();
  AddArtifactFilter(ls, *l);
  AddArtifactCommand(line, parent, "show", "Show the stages of an artifact", RunArtifactShow, kId);
  auto [gc, g] = AddArtifactCommand(line, parent, "gc", "Remove old packages and unfinished builds", RunArtifactGc);
  gc->add_option("--keep-last", g->collect.keep_last, "Keep this many packages of each model and target")
      ->check(CLI::Range(1, 1'000'000));
  gc->add_option("--max-bytes", g->collect.max_bytes, "Keep the newest packages up to this size, such as 20GiB")
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false));
  gc->add_flag("--dry-run", g->collect.dry_run, "Only list what would be removed");
}

}  // namespace breakwatch::commands
