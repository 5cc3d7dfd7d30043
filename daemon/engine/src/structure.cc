#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"
#include "breakwatch/engine/make_plan.h"

namespace breakwatch::engine {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxConfigBytes = 8u << 20;
constexpr int kMaxConfigDepth = 128;

// True for a nested configuration. transformers nests one under "text_config", "encoder" and similar keys. Pipelines of
// diffusers have one per model under "components".
bool IsSubConfig(const std::string& key, const json& value) {
  return value.is_object() && (key.ends_with("_config") || key == "components" || value.contains("model_type") ||
                               value.contains("_class_name"));
}

// Removes the ignored keys from a configuration and its nested configurations. Plain mappings, such as label names,
// keep them, because the keys have another meaning there.
void RemoveIgnored(json& config, const std::set<std::string>& ignored) {
  for (const std::string& key : ignored) config.erase(key);
  for (auto& [key, value] : config.items()) {
    if (IsSubConfig(key, value)) RemoveIgnored(value, ignored);
  }
}

// `train`, with or without a call variant.
bool IsTraining(std::string_view mode) { return mode == "train" || mode.starts_with("train+"); }

}  // namespace

std::string ClassOf(const ModelInfo& info) {
  return info.architectures.empty() ? "auto:" + info.task : info.architectures.front();
}

CaptureJob JobFor(const ModelInfo& info, const std::string& config_json) {
  CaptureJob job;
  job.model = info.id;
  job.revision = info.sha;
  job.config_json = config_json;
  job.is_source = RunsOwnCode(info);
  if (!info.architectures.empty()) job.architecture = info.architectures.front();
  job.task = info.task;
  job.library = info.library;
  job.family = FamilyName(info.family);
  return job;
}

CaptureJob JobOf(const PlannedModel& planned, const CaptureLimits& limits) {
  CaptureJob job = JobFor(planned.info, planned.config_json);
  job.mode = SplitMode(planned.mode).mode;
  job.call = SplitMode(planned.mode).call;
  job.depth = planned.depth;
  job.repeat = planned.repeat;
  job.inputs_spec_json = planned.inputs_spec_json;
  job.dtype = planned.dtype;
  job.attention = planned.attention;
  job.measure_json = planned.measure_json;
  job.fix_json = planned.fix_json;
  job.repro_json = planned.repro_json;
  job.structure = planned.structure;
  job.limits = planned.limits.Over(limits);
  return job;
}

std::string InputsSpecOf(const ModelInfo& info, const PlanOptions& options) {
  if (std::string spec = OverrideOf(info, options.rules).inputs_json; !spec.empty()) return spec;
  auto found = options.inputs_specs.find(info.id);
  if (found == options.inputs_specs.end()) found = options.inputs_specs.find("model_type:" + info.model_type);
  return found == options.inputs_specs.end() ? "" : found->second;
}

std::string DtypeOf(const ModelOverride& rule, const PlanOptions& options, std::string_view mode) {
  const bool measured = mode == kProfileMode || mode == kBenchMode || mode == kBuildMode;
  return measured && !options.measure.dtype.empty() ? options.measure.dtype : rule.dtype;
}

Result<std::string> StructureDigest(const ModelInfo& info, const std::string& config_json, const PlanOptions& options,
                                    std::string_view mode) {
  if (auto checked = CheckJson(config_json, kMaxConfigBytes, kMaxConfigDepth); !checked) {
    return checked.error().Within("config.json of " + info.id);
  }
  json config = json::parse(config_json, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object()) {
    return Error{ErrorCode::kInvalid, "config.json of " + info.id + " is " + config.type_name() + ", not an object"};
  }
  RemoveIgnored(config, options.ignored_config_keys.always);
  if (!IsTraining(mode)) RemoveIgnored(config, options.ignored_config_keys.outside_training);
  // Object keys are sorted and numbers have their shortest exact form, so equal values give equal bytes.
  const Toolchain& toolchain = options.toolchain;
  json structure = {
      {"class", info.architectures},  // all names: the worker builds the first one that the library knows
      {"config", std::move(config)},
      {"mode", mode},
      {"device", toolchain.device},
      {"toolchain", {toolchain.name, toolchain.python, toolchain.torch, toolchain.transformers}},
      // The worker's version determines inputs, sizes, dtype and attention implementation.
      {"worker", toolchain.worker},
  };
  // If custom code is refused or no class is named, the task determines what is built.
  if (info.custom_code) structure["custom_code"] = true;
  if (info.architectures.empty() || info.custom_code) structure["task"] = info.task;
  // Other libraries may not be captured, or may be built differently.
  const bool plain = info.library.empty() || info.library == "transformers" || info.library == "sentence-transformers";
  if (!plain) structure["library"] = info.library;
  if (const std::string spec = InputsSpecOf(info, options); !spec.empty()) {
    structure["inputs"] = json::parse(spec, nullptr, /*allow_exceptions=*/false);
  }
  const ModelOverride rule = OverrideOf(info, options.rules);
  if (const std::string dtype = DtypeOf(rule, options, mode); !dtype.empty() && dtype != kDtypes.front()) {
    structure["dtype"] = dtype;
  }
  if (!rule.attention.empty()) structure["attention"] = rule.attention;
  if (mode == kReproMode) {
    if (options.repro != ReproOptions{}) structure["repro"] = json::parse(ReproJson(options.repro));
    return Sha256Hex(JsonText(structure));
  }
  if (mode == kFixMode) {
    structure["fix"] = json::parse(FixJson(options.fix));
    return Sha256Hex(JsonText(structure));
  }
  if (IsMeasureMode(mode)) {
    structure["measure"] = json::parse(MeasureJson(options.measure));
    if (mode != kBuildMode && !options.machine.empty()) structure["machine"] = options.machine;
    return Sha256Hex(JsonText(structure));
  }
  if (options.repeat > 1) structure["repeat"] = options.repeat;
  // An earlier capture of a pinned class at reduced depth must not be reused.
  if (options.pinned_architectures.contains(ClassOf(info))) structure["depth"] = "full";
  return Sha256Hex(JsonText(structure));
}

std::vector<std::string> StructuresOf(const RankedList& list, const PlanOptions& options, std::string_view mode) {
  std::set<std::string> structures;
  for (const RankedModel& model : list.models) {
    if (model.excluded) continue;
    if (const auto digest = StructureDigest(model.info, model.config_json, options, mode)) structures.insert(*digest);
  }
  return {structures.begin(), structures.end()};
}

}  // namespace breakwatch::engine
