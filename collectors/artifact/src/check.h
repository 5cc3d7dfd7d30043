// Checks a package: its files against the manifest, and its outputs against the recorded eager outputs.
#pragma once

#include <string>
#include <vector>

#include "about.h"
#include "breakwatch/core/package.h"
#include "compare.h"
#include "recorded.h"

namespace breakwatch::artifact {

struct CheckedOutput {
  TensorSpec output;
  Comparison comparison;
};

struct CheckedCase {
  std::string inputs;  // name of the file
  std::vector<CheckedOutput> outputs;
};

struct Check {
  std::string status;  // "ok", "wrong_result", "failed_check" or "refused"
  std::string detail;  // empty if ok
  std::string package_id;
  double verify_s = 0, load_s = 0, run_s = 0, peak_rss_mb = 0;  // run_s: the first run
  bool deterministic = false;                                   // two runs gave the same bytes
  std::vector<CheckedCase> cases;
};

// Why this program does not load the package: made by another torch, or for another ABI, processor or device.
// Empty if it does. Pure. `machine` is the processor's: "default", "avx2", "avx512".
std::string WhyRefused(const Manifest& manifest, const About& about, std::string_view machine);

// The best instruction set of this processor that packages are built for.
std::string_view MachineCapability();

// Nothing of the package is loaded before all of its files are verified.
Check CheckPackage(const std::string& folder, int threads);

// The first part alone. Nothing is loaded. The package if its manifest could be read; status "ok" or "refused".
struct Inspection {
  Check check;
  std::optional<Package> package;
  Recorded recorded;
};
Inspection Inspect(const std::string& folder);

}  // namespace breakwatch::artifact
