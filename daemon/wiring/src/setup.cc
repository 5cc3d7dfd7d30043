#include <unistd.h>

#include <array>
#include <filesystem>
#include <utility>

#include "breakwatch/capture/make_environment.h"
#include "breakwatch/wiring/toolchains.h"
#include "breakwatch/wiring/wiring.h"
#include "data_dir.h"

namespace breakwatch::wiring {
namespace {

using capture::EnvironmentProgress;
using commands::MadeToolchain;
using commands::SetupFollow;
using commands::SetupPlan;
using commands::SetupRequest;

constexpr std::array kStepNames = {"create the environment", "fetch", "install", "test"};
constexpr std::array kUsualPackages = {"torchvision", "timm", "scipy", "pyyaml"};

// The distribution's own interpreter first: it is built with profile-guided optimization, and tracing runs in it.
std::string UsualPython() { return access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3"; }

capture::EnvironmentRecipe RecipeOf(const SetupRequest& request) {
  capture::EnvironmentRecipe recipe;
  recipe.target = request.dir.empty() ? NewToolchain(request.name)
                                      : std::filesystem::absolute(request.dir).lexically_normal().string();
  if (recipe.target.ends_with('/')) recipe.target.pop_back();
  recipe.python = request.python.empty() ? UsualPython() : request.python;
  recipe.lock = DataFile("collectors/capture/worker/requirements.lock");
  recipe.torch_index = request.torch_index;
  recipe.torch = request.torch, recipe.transformers = request.transformers;
  recipe.packages = request.packages;
  if (!request.torch.empty() && request.packages.empty())
    recipe.packages.assign(kUsualPackages.begin(), kUsualPackages.end());
  recipe.worker = DataFile("collectors/capture/worker");
  // A toolchain with another torch has other libraries than the runner was linked with.
  if (request.torch.empty()) recipe.runner = InstalledRunner();
  recipe.keep_replaced = request.keep_old;
  recipe.min_free_bytes = request.min_free;
  return recipe;
}

}  // namespace

Result<SetupPlan> PlanSetup(const SetupRequest& request) {
  const capture::EnvironmentRecipe recipe = RecipeOf(request);
  const auto plan = capture::PlanEnvironment(recipe);
  if (!plan) return plan.error();
  return SetupPlan{recipe.target,  plan->is_complete,  plan->was_interrupted,
                   plan->packages, plan->needed_bytes, plan->free_bytes};
}

Result<MadeToolchain> SetUp(const SetupRequest& request, const SetupFollow& follow) {
  capture::EnvironmentFollow inner{{}, follow.stop_fd};
  if (follow.on_progress) {
    inner.on_progress = [&](const EnvironmentProgress& progress) {
      follow.on_progress({kStepNames[static_cast<std::size_t>(progress.step)], progress.done, progress.total,
                          progress.package, progress.bytes, progress.of_bytes});
    };
  }
  const auto made = capture::MakeEnvironment(RecipeOf(request), inner);
  if (!made) return made.error();
  return MadeToolchain{made->python, made->torch, made->transformers, made->python_version, made->was_made};
}

}  // namespace breakwatch::wiring
