// Measures the latency of a package, without Python.
#pragma once

#include <string>

#include "breakwatch/core/result.h"
#include "cell.h"
#include "model.h"

namespace breakwatch::artifact {

struct BenchOptions {
  std::string package, inputs;  // files; the package's format follows from its name
  Computing computing;
  std::size_t min_runs = 30;  // it ends when both minimums are reached, or after 20 times the seconds
  double min_s = 5;
};

struct Bench {
  Cell cell;  // status "failed" if a run failed
  double load_s = 0, peak_rss_mb = 0;
  int threads = 1;
  std::string cpu_capability;  // of libtorch on this machine: "avx512"
};

// Error: kNotFound, kInvalid if the files cannot be loaded.
Result<Bench> MeasurePackage(const BenchOptions& options);

// AOTInductor for .pt2, TorchScript for .pt. Error: kInvalid for other names, with the two.
Result<ModelFormat> FormatOf(const std::string& file);

double PeakResidentMebibytes();

}  // namespace breakwatch::artifact
