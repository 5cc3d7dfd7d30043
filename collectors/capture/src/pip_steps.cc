#include "pip_steps.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace breakwatch::capture {
namespace {

// What another index serves in builds of its own, and the libraries for GPUs that only the usual builds need.
constexpr std::array<std::string_view, 2> kOfTheIndex = {"torch", "torchvision"};
constexpr std::array<std::string_view, 3> kForGpus = {"triton", "nvidia-", "cuda-"};

// Calls `take(line, starts)` for each line; `starts`: it begins a requirement, whose hashes are on the lines below.
template <class Take>
void EachLine(const std::string& lock, const Take& take) {
  for (std::size_t begin = 0; begin < lock.size();) {
    const std::size_t end = std::min(lock.find('\n', begin), lock.size());
    const std::string_view line = std::string_view(lock).substr(begin, end - begin);
    take(line, !line.empty() && std::isalnum(static_cast<unsigned char>(line.front())) != 0);
    begin = end + 1;
  }
}

std::string_view NameIn(std::string_view line) { return line.substr(0, line.find_first_of("=[ ;")); }

bool IsOfTheIndex(std::string_view name) {
  return std::find(kOfTheIndex.begin(), kOfTheIndex.end(), name) != kOfTheIndex.end();
}

bool IsForGpus(std::string_view name) {
  return std::any_of(kForGpus.begin(), kForGpus.end(), [&](std::string_view start) { return name.starts_with(start); });
}

// The lock file without torch, torchvision and the libraries for GPUs.
std::string RestOf(const std::string& lock) {
  std::string rest;
  bool keep = false;
  EachLine(lock, [&](std::string_view line, bool starts) {
    if (starts) keep = !IsOfTheIndex(NameIn(line)) && !IsForGpus(NameIn(line));
    if (keep) rest.append(line).append("\n");
  });
  return rest;
}

std::string IndexFlag(const EnvironmentRecipe& recipe) { return "--index-url=" + recipe.torch_index; }

PipPlan OfVersions(const EnvironmentRecipe& recipe) {
  const std::string torch = "torch==" + recipe.torch;
  PipPlan plan;
  if (!recipe.torch_index.empty()) plan.steps.push_back({IndexFlag(recipe), torch, "torchvision"});
  plan.steps.push_back({torch, "transformers==" + recipe.transformers});
  plan.steps.back().insert(plan.steps.back().end(), recipe.packages.begin(), recipe.packages.end());
  return plan;
}

}  // namespace

std::vector<std::string> RequirementsIn(const std::string& lock) {
  std::vector<std::string> requirements;
  EachLine(lock, [&](std::string_view line, bool starts) {
    if (starts) requirements.emplace_back(line.substr(0, line.find_first_of(" ;\\")));
  });
  return requirements;
}

PipPlan PipPlanOf(const EnvironmentRecipe& recipe, const std::string& lock, const std::string& folder) {
  if (!recipe.torch.empty()) return OfVersions(recipe);
  if (recipe.torch_index.empty()) return {{{"--require-hashes", "-r", recipe.lock}}, ""};
  PipPlan plan;
  plan.rest_of_lock = RestOf(lock);
  std::vector<std::string> of_index = {IndexFlag(recipe), "--no-deps"};
  for (std::string& requirement : RequirementsIn(lock)) {
    if (IsOfTheIndex(NameIn(requirement))) of_index.push_back(std::move(requirement));
  }
  plan.steps = {std::move(of_index), {"--no-deps", "--require-hashes", "-r", folder + "/lock.txt"}};
  return plan;
}

std::string KeyText(const EnvironmentRecipe& recipe, const std::string& lock) {
  const std::string with = recipe.torch_index + " " + recipe.python + "\n";
  if (recipe.torch.empty()) return lock + with;
  std::string text = recipe.torch + " " + recipe.transformers;
  for (const std::string& package : recipe.packages) text += " " + package;
  return text + " " + with;
}

}  // namespace breakwatch::capture
