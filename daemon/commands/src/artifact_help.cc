// The help of `breakwatch artifact`.
#include "breakwatch/commands/app.h"
#include "help.h"

namespace breakwatch::commands {
namespace {

const std::vector<int> kLocal = {kExitOk, kExitFailure, kExitUsage, kExitStore, kExitConfig};
const std::vector<int> kRemote = {kExitOk,    kExitFailure, kExitUsage,      kExitUnavailable,
                                  kExitStore, kExitConfig,  kExitInterrupted};

}  // namespace

std::vector<CommandHelp> ArtifactHelp() {
  return {
      {.name = "artifact build",
       .settings = {"hub.source", "capture.sandbox", "capture.limits.rss_bytes", "artifact.build_timeout",
                    "artifact.check_timeout", "artifact.max_weight_bytes"},
       .examples = {{"artifact build org/name", "compile with AOTInductor and random weights, and check"},
                    {"artifact build org/name@main --target aot_inductor,onnx", "build two packages"},
                    {"artifact build org/name --weights ./weights --full", "compile the model as it is"},
                    {"artifact build org/name --until build", "do not check"}},
       .exit_codes = kRemote,
       .note = "Exit code 1: a stage failed; the output names it, its cause and its log. A package that exists is not "
               "built\nagain, unless --rebuild is always. Two commands for one package wait for each other.\n"},
      {.name = "artifact check",
       .settings = {"artifact.runner", "artifact.check_timeout", "artifact.check_rss_bytes"},
       .examples = {{"artifact check 1a2b3c4d", "load the package and compare its outputs with eager mode, again"}},
       .exit_codes = kRemote},
      {.name = "artifact publish",
       .settings = {"artifact.registry.username", "artifact.registry.password_file", "artifact.registry.token_file",
                    "artifact.registry.timeout"},
       .examples = {{"artifact publish 1a2b3c4d --to dir:/srv/models", "publish to a directory"},
                    {"artifact publish 1a2b3c4d --to oci:registry.example/models:bert", "push to an OCI registry"},
                    {"artifact publish 1a2b3c4d --to mlflow:http://mlflow.example:5000", "add a model version"},
                    {"artifact publish 1a2b3c4d --to dir:/srv/models --sign-key key.pem", "sign the manifest"}},
       .exit_codes = kRemote,
       .note = "Only a package that passed its check is published.\n"},
      {.name = "artifact pull",
       .settings = {"artifact.registry.username", "artifact.registry.token_file", "artifact.registry.timeout"},
       .examples = {{"artifact pull dir:/srv/models --model org/name --output model", "fetch the newest package"},
                    {"artifact pull oci:registry.example/models:bert --output model", "fetch a tag"},
                    {"artifact pull oci:registry.example/models:bert --output model --public-key key.pub",
                     "refuse it if it is not signed by this key"}},
       .exit_codes = kRemote},
      {.name = "artifact verify",
       .settings = {"state_dir"},
       .examples = {{"artifact verify ./model", "compare every file with the manifest"},
                    {"artifact verify 1a2b3c4d --public-key key.pub", "also verify the signature"}},
       .exit_codes = kLocal},
      {.name = "artifact ls",
       .settings = {"state_dir", "store.url", "artifact.registry.token_file"},
       .examples = {{"artifact ls", "list the artifacts of this state directory"},
                    {"artifact ls --model org/name --json", "list those of a model as JSON"},
                    {"artifact ls --from dir:/srv/models", "list the packages in a registry"}},
       .exit_codes = kRemote},
      {.name = "artifact show",
       .settings = {"state_dir", "store.url"},
       .examples = {{"artifact show 1a2b3c4d", "show the stages of an artifact"}},
       .exit_codes = kLocal},
      {.name = "artifact gc",
       .settings = {"state_dir", "store.url"},
       .examples = {{"artifact gc --keep-last 3 --dry-run", "list what exceeds three packages a model and target"},
                    {"artifact gc --max-bytes 20GiB", "remove the oldest packages until 20 GiB are left"}},
       .exit_codes = {kExitOk, kExitUsage, kExitStore, kExitConfig, kExitInterrupted},
       .note = "Packages in registries stay.\n"},
  };
}

}  // namespace breakwatch::commands
