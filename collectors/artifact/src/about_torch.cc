// The one file that includes the library's headers; what it throws stops here.
#include <ATen/Version.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/sum.h>
#include <torch/headeronly/version.h>

#include <exception>

#include "about.h"

namespace breakwatch::artifact {
namespace {

// The library reports its version only within its build settings, as "TORCH_VERSION=2.15.0, ".
std::string LoadedVersion() {
  constexpr std::string_view kKey = "TORCH_VERSION=";
  const std::string config = at::show_config();
  const std::size_t key = config.find(kKey);
  if (key == std::string::npos) return "unknown";
  const std::size_t start = key + kKey.size();
  return config.substr(start, config.find_first_of(", \n", start) - start);
}

bool Computes() {
  try {
    return at::ones({3, 4}).sum().item<double>() == 12.0;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

About AskTorch() {
  About about;
  about.program = BREAKWATCH_VERSION;
  about.torch = LoadedVersion();
  about.torch_headers = TORCH_VERSION;
  about.cxx11_abi = _GLIBCXX_USE_CXX11_ABI == 1;
  about.cpu_capability = at::get_cpu_capability();
  about.computes = Computes();
  return about;
}

}  // namespace breakwatch::artifact
