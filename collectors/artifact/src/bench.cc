#include "bench.h"

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "about.h"
#include "breakwatch/core/text.h"

namespace breakwatch::artifact {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWarmUps = 3, kMostRuns = 1'000'000;
constexpr double kLongest = 20;  // times the minimum of seconds

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

struct Times {
  std::vector<double> seconds;
  std::string failure;  // of the run after the last one; empty if none failed
};

Times TimeRuns(Model& model, const BenchOptions& options) {
  Times times;
  for (std::size_t i = 0; i < kWarmUps; ++i) {
    if (auto run = model.Run(); !run) return {{}, run.error().message};
  }
  const auto begin = Clock::now();
  const auto wants_more = [&](double elapsed) {
    const std::size_t runs = times.seconds.size();
    if (runs == 0) return true;
    if (runs == kMostRuns || (options.min_s > 0 && elapsed >= kLongest * options.min_s)) return false;
    return runs < options.min_runs || elapsed < options.min_s;
  };
  while (wants_more(SecondsSince(begin))) {
    const auto start = Clock::now();
    auto run = model.Run();
    const double seconds = SecondsSince(start);
    if (!run) {
      times.failure = run.error().message;
      break;
    }
    times.seconds.push_back(seconds);
  }
  return times;
}

}  // namespace

Result<ModelFormat> FormatOf(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension();
  if (extension == ".pt2") return ModelFormat::kAotInductor;
  if (extension == ".pt") return ModelFormat::kTorchScript;
  return Error{ErrorCode::kInvalid, file + ": neither an AOTInductor package (.pt2) nor TorchScript (.pt)"};
}

double PeakResidentMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::round(static_cast<double>(usage.ru_maxrss) / 102.4) / 10;
}

Result<Bench> MeasurePackage(const BenchOptions& options) {
  const auto format = FormatOf(options.package);
  if (!format) return format.error();
  const auto inputs = TensorFile::Open(options.inputs);
  if (!inputs) return inputs.error();
  SetUp(options.computing);
  Bench bench;
  bench.threads = options.computing.threads;
  bench.cpu_capability = Lower(AskTorch().cpu_capability);
  const auto begin = Clock::now();
  const auto model = LoadModel(*format, options.package);
  if (!model) return model.error();
  bench.load_s = SecondsSince(begin);
  if (auto set = (*model)->SetInputs(inputs->tensors()); !set) return set.error();
  Times times = TimeRuns(**model, options);
  if (!times.seconds.empty()) bench.cell = Summarize(std::move(times.seconds));
  if (!times.failure.empty()) {
    bench.cell.status = "failed";
    bench.cell.detail = times.failure;
    bench.cell.failures = 1;
  }
  bench.peak_rss_mb = PeakResidentMebibytes();
  return bench;
}

}  // namespace breakwatch::artifact
