// Which packages this program can load.
#include <algorithm>
#include <array>

#include "check.h"

namespace breakwatch::artifact {
namespace {

// From the oldest. A package for one runs on all processors with a later one.
constexpr std::array<std::string_view, 3> kCapabilities = {"default", "avx2", "avx512"};

// "2.15.0+cpu" is the same library as "2.15.0+cu130" for a package of the processor.
std::string_view WithoutBuild(std::string_view version) { return version.substr(0, version.find('+')); }

std::size_t Rank(std::string_view capability) {
  return static_cast<std::size_t>(std::find(kCapabilities.begin(), kCapabilities.end(), capability) -
                                  kCapabilities.begin());
}

}  // namespace

std::string_view MachineCapability() {
#if defined(__x86_64__)
  // What torch's own kernels of this level need.
  const bool avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                      __builtin_cpu_supports("avx512vl") != 0 && __builtin_cpu_supports("avx512dq") != 0;
  if (avx512) return "avx512";
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return "avx2";
#endif
  return "default";
}

std::string WhyRefused(const Manifest& manifest, const About& about, std::string_view machine) {
  if (manifest.target != "aot_inductor" && manifest.target != "torchscript")
    return "libtorch does not run packages of target " + manifest.target;
  if (WithoutBuild(manifest.torch) != WithoutBuild(about.torch))
    return "built with torch " + manifest.torch + ", this is torch " + about.torch + ": build it again";
  const std::string abi = about.cxx11_abi ? "cxx11" : "pre-cxx11";
  if (manifest.torch_abi != abi)
    return "built for the " + manifest.torch_abi + " ABI of the C++ library, this program has " + abi;
  if (manifest.device != "cpu") return "built for the device " + manifest.device + ", this program runs on cpu";
  const std::size_t needed = Rank(manifest.cpu_capability);
  if (needed == kCapabilities.size())
    return "built for the unknown instruction set " + manifest.cpu_capability + ": build it again";
  if (needed > Rank(machine)) {
    return "built for " + manifest.cpu_capability + ", this processor has " + std::string(machine) +
           ": build it with a lower capability";
  }
  return "";
}

}  // namespace breakwatch::artifact
