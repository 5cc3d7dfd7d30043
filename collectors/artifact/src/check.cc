#include "check.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "bench.h"
#include "breakwatch/core/text.h"

namespace breakwatch::artifact {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

bool Lists(const Manifest& manifest, std::string_view path) {
  return std::any_of(manifest.files.begin(), manifest.files.end(),
                     [&](const PackageFile& file) { return file.path == path; });
}

class Checking {
 public:
  Checking(const Inspection& inspection, Check* check)
      : package_(*inspection.package), recorded_(inspection.recorded), check_(check) {}

  Result<void> Run() {
    const Manifest& manifest = package_.manifest;
    const std::string name = ModelFileOf(manifest);
    const auto begin = Clock::now();
    auto model = LoadModel(*FormatOf(name), PathOf(name));
    if (!model) return model.error();
    model_ = *std::move(model);
    check_->load_s = SecondsSince(begin);
    if (auto done = RunCase(kFirstCase); !done) return done.error().Within(kFirstCase.inputs);
    if (!manifest.dynamic && !Lists(manifest, kSecondCase.inputs)) return {};
    if (auto done = RunCase(kSecondCase); !done) return done.error().Within(kSecondCase.inputs);
    return {};
  }

 private:
  std::string PathOf(const std::string& name) const { return std::filesystem::path(package_.folder) / name; }

  Result<void> RunCase(const CaseFiles& files) {
    auto inputs = TensorFile::Open(PathOf(files.inputs));
    if (!inputs) return inputs.error();
    const auto expected = TensorFile::Open(PathOf(files.outputs));
    if (!expected) return expected.error();
    const bool first = check_->cases.empty();
    if (!first && !IsOtherBatch(first_inputs_->tensors(), inputs->tensors()))
      return Error{ErrorCode::kInvalid, "it has the sizes of inputs.safetensors: it is no other batch"};
    const std::string other = first ? WhyNotDescribed(recorded_.inputs, inputs->tensors()) : "";
    if (!other.empty()) return Error{ErrorCode::kInvalid, other};
    if (auto set = model_->SetInputs(inputs->tensors()); !set) return set;
    const auto begin = Clock::now();
    if (auto run = model_->Run(); !run) return run;
    if (first) check_->run_s = SecondsSince(begin);
    auto outputs = model_->Outputs();
    if (!outputs) return outputs.error();
    if (auto compared = CompareAll(files, expected->tensors(), *outputs); !compared) return compared;
    if (!first) return {};
    first_inputs_.emplace(*std::move(inputs));
    return RunAgain(*outputs);
  }

  Result<void> CompareAll(const CaseFiles& files, const std::vector<TensorBytes>& expected,
                          const std::vector<TensorBytes>& actual) {
    const auto& specs = recorded_.outputs;
    if (expected.size() != actual.size() || expected.size() != specs.size()) {
      return Error{ErrorCode::kInvalid, "the package returns " + Counted(actual.size(), "tensor") +
                                            ", the manifest has " + std::to_string(specs.size()) + ", " +
                                            files.outputs + " has " + std::to_string(expected.size())};
    }
    CheckedCase checked{files.inputs, {}};
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const auto found = recorded_.tolerance.find(std::string(expected[i].dtype->torch_name));
      const Tolerance tolerance = found == recorded_.tolerance.end() ? Tolerance{} : found->second;
      checked.outputs.push_back({specs[i], Compare(expected[i], actual[i], tolerance)});
      checked.outputs.back().output.dtype = actual[i].dtype->torch_name;
      checked.outputs.back().output.shape = actual[i].shape;
    }
    check_->cases.push_back(std::move(checked));
    return {};
  }

  // `outputs` belong to the model and change with its next run.
  Result<void> RunAgain(const std::vector<TensorBytes>& outputs) {
    std::vector<std::string> before;
    for (const TensorBytes& output : outputs) before.emplace_back(output.bytes);
    // The first run may have written into its inputs.
    if (auto set = model_->SetInputs(first_inputs_->tensors()); !set) return set;
    if (auto run = model_->Run(); !run) return run;
    auto again = model_->Outputs();
    if (!again) return again.error();
    check_->deterministic = std::equal(before.begin(), before.end(), again->begin(), again->end(),
                                       [](const auto& bytes, const auto& output) { return bytes == output.bytes; });
    return {};
  }

  const Package& package_;
  const Recorded& recorded_;
  Check* check_;
  std::unique_ptr<Model> model_;
  std::optional<TensorFile> first_inputs_;
};

// The worst output of all cases, as one line; empty if every output is within its tolerance.
std::string WhatIsWrong(const Check& check) {
  std::size_t wrong = 0, all = 0;
  std::string first;
  for (const CheckedCase& checked : check.cases) {
    for (const CheckedOutput& output : checked.outputs) {
      ++all;
      if (output.comparison.within) continue;
      if (wrong++ == 0) first = output.output.name + " of " + checked.inputs + ": " + output.comparison.why;
    }
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " of " + Counted(all, "output") + " differ from eager; first: " + first;
}

Check Refused(Check check, const std::string& why) {
  check.status = "refused";
  check.detail = why;
  return check;
}

}  // namespace

Inspection Inspect(const std::string& folder) {
  Inspection inspection;
  Check& check = inspection.check;
  const auto begin = Clock::now();
  auto package = VerifyPackage(folder);
  check.verify_s = SecondsSince(begin);
  if (!package) return {Refused(check, package.error().message), std::nullopt, {}};
  check.package_id = package->id;
  auto recorded = ReadRecorded(*package);
  check.detail = recorded ? WhyRefused(package->manifest, AskTorch(), MachineCapability()) : recorded.error().message;
  if (check.detail.empty()) check.detail = WhyIncomplete(package->manifest);
  check.status = check.detail.empty() ? "ok" : "refused";
  if (recorded) inspection.recorded = *std::move(recorded);
  inspection.package = *std::move(package);
  return inspection;
}

Check CheckPackage(const std::string& folder, int threads) {
  const Inspection inspection = Inspect(folder);
  Check check = inspection.check;
  if (check.status != "ok") return check;
  // Compiled code compares the shapes and types of its inputs with those it was built for.
  setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", 1);
  SetUp({threads, inspection.recorded.flush_denormals});
  const auto ran = Checking(inspection, &check).Run();
  check.peak_rss_mb = PeakResidentMebibytes();
  if (!ran) {
    check.status = "failed_check";
    check.detail = ran.error().message;
  } else if (check.detail = WhatIsWrong(check); !check.detail.empty()) {
    check.status = "wrong_result";
  }
  return check;
}

}  // namespace breakwatch::artifact
