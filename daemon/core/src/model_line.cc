#include "breakwatch/core/model_line.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace breakwatch {
namespace {

// Packages and, where they have models, the folder of these. What is of no package is the user's own code.
struct Package {
  std::string_view prefix, models;
};
constexpr Package kPackages[] = {
    {"transformers/", "transformers/models/"},
    {"diffusers/", "diffusers/models/"},
    {"timm/", "timm/models/"},
    {"sentence_transformers/", "sentence_transformers/models/"},
    {"torch/", ""},
    {"torchvision/", "torchvision/models/"},
    {"einops/", ""},
    {"numpy/", ""},
    {"accelerate/", ""},
    {"huggingface_hub/", ""},
    // Files of Python itself that appear between a model and its helpers.
    {"abc.py", ""},
    {"collections/", ""},
    {"contextlib.py", ""},
    {"copy.py", ""},
    {"dataclasses.py", ""},
    {"enum.py", ""},
    {"functools.py", ""},
    {"inspect.py", ""},
    {"logging/", ""},
    {"random.py", ""},
    {"re/", ""},
    {"typing.py", ""},
    {"warnings.py", ""},
};

bool IsOfModel(std::string_view line) {
  const auto package = std::find_if(std::begin(kPackages), std::end(kPackages),
                                    [&](const Package& known) { return line.starts_with(known.prefix); });
  if (package != std::end(kPackages)) return !package->models.empty() && line.starts_with(package->models);
  return !line.empty() && !line.starts_with('<');
}

}  // namespace

std::string ModelLine(const BreakSite& site) {
  const auto line = std::find_if(site.stack.rbegin(), site.stack.rend(), IsOfModel);
  if (line == site.stack.rend()) return {};
  const std::string own = site.file + ":" + std::to_string(site.line);
  return line->starts_with(own + " ") || *line == own ? std::string() : *line;
}

}  // namespace breakwatch
