// libFuzzer's entry point for what the runner reads of a manifest: no input may crash it, no file of a package is
// outside its folder, and every error has a text.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "breakwatch/core/package.h"
#include "recorded.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto package = breakwatch::ParsePackage(std::string(reinterpret_cast<const char*>(data), size));
  if (!package) {
    if (package.error().message.empty()) std::abort();
    return 0;
  }
  for (const auto& file : package->manifest.files) {
    if (file.path.empty() || file.path == ".." || file.path.find('/') != std::string::npos) std::abort();
  }
  const auto recorded = breakwatch::artifact::ReadRecorded(*package);
  if (!recorded && recorded.error().message.empty()) std::abort();
  (void)breakwatch::artifact::WhyIncomplete(package->manifest);
  return 0;
}
