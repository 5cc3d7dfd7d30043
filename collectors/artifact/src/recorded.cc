#include "recorded.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "dtype.h"

namespace breakwatch::artifact {
namespace {

using nlohmann::json;

constexpr std::size_t kMostBytes = 4u << 20, kTextBytes = 1000, kMostItems = 4096, kMostDimensions = 64;
constexpr int kDepth = 4;
constexpr double kMostTolerance = 1e9;

Error Invalid(const std::string& field, const std::string& what) {
  return {ErrorCode::kInvalid, "manifest.json: \"" + field + "\" " + what};
}

Result<json> Parsed(const std::string& text, const std::string& field) {
  if (auto checked = CheckJson(text, kMostBytes, kDepth); !checked) return Invalid(field, checked.error().message);
  return json::parse(text, nullptr, false);
}

// Exactly these keys.
bool HasKeys(const json& value, std::initializer_list<const char*> keys) {
  return value.is_object() && value.size() == keys.size() &&
         std::all_of(keys.begin(), keys.end(), [&](const char* key) { return value.contains(key); });
}

bool IsSize(const json& value) { return value.is_number_unsigned() && value.get<std::uint64_t>() >> 63 == 0; }

bool IsShape(const json& value) {
  return value.is_array() && value.size() <= kMostDimensions && std::all_of(value.begin(), value.end(), IsSize);
}

bool IsDType(const json& value) {
  return value.is_string() && DTypeOfTorch(value.get_ref<const std::string&>()) != nullptr;
}

bool IsTolerance(const json& value) {
  return value.is_number() && value.get<double>() >= 0 && value.get<double>() <= kMostTolerance;
}

// `key`: what a tensor is named by.
Result<std::vector<TensorSpec>> ReadTensors(const std::string& text, const std::string& field, const char* key) {
  const auto list = Parsed(text, field);
  if (!list) return list.error();
  if (!list->is_array() || list->size() > kMostItems) return Invalid(field, "is not a list of at most 4,096 tensors");
  std::vector<TensorSpec> tensors;
  for (const json& item : *list) {
    const std::string at = field + "[" + std::to_string(tensors.size()) + "]";
    if (!HasKeys(item, {key, "dtype", "shape"})) return Invalid(at, "must have " + std::string(key) + ", dtype, shape");
    if (!item[key].is_string() || item[key].get_ref<const std::string&>().size() > kTextBytes)
      return Invalid(at + "." + key, "is not a text of at most 1,000 bytes");
    if (!IsDType(item["dtype"])) return Invalid(at + ".dtype", "is not the dtype of a package");
    if (!IsShape(item["shape"])) return Invalid(at + ".shape", "is not a list of sizes");
    tensors.push_back({item[key], item["dtype"], item["shape"]});
  }
  return tensors;
}

Result<std::map<std::string, Tolerance>> ReadTolerance(const std::string& text) {
  const auto all = Parsed(text, "tolerance");
  if (!all) return all.error();
  if (!all->is_object()) return Invalid("tolerance", "is not an object");
  std::map<std::string, Tolerance> tolerance;
  for (const auto& [dtype, value] : all->items()) {
    const std::string at = "tolerance." + ShortLine(dtype, kTextBytes);
    if (DTypeOfTorch(dtype) == nullptr) return Invalid(at, "is not the dtype of a package");
    if (!HasKeys(value, {"rtol", "atol"}) || !IsTolerance(value["rtol"]) || !IsTolerance(value["atol"]))
      return Invalid(at, "must have rtol and atol, numbers from 0 to 1e9");
    tolerance[dtype] = {value["rtol"], value["atol"]};
  }
  return tolerance;
}

}  // namespace

std::string ModelFileOf(const Manifest& manifest) {
  return manifest.target == "torchscript" ? "module.pt" : "package.pt2";
}

std::string WhyIncomplete(const Manifest& manifest) {
  std::vector<std::string> needed = {ModelFileOf(manifest), kFirstCase.inputs, kFirstCase.outputs};
  if (manifest.dynamic) needed.insert(needed.end(), {kSecondCase.inputs, kSecondCase.outputs});
  for (const std::string& name : needed) {
    const bool listed = std::any_of(manifest.files.begin(), manifest.files.end(),
                                    [&](const PackageFile& file) { return file.path == name; });
    if (!listed)
      return "the manifest lists no " + name +
             (name == kSecondCase.inputs || name == kSecondCase.outputs ? ", the other batch of a dynamic package"
                                                                        : "");
  }
  return "";
}

std::string WhyNotDescribed(const std::vector<TensorSpec>& specs, const std::vector<TensorBytes>& tensors) {
  if (specs.size() != tensors.size())
    return "it has " + std::to_string(tensors.size()) + " tensors, the manifest has " + std::to_string(specs.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (specs[i].dtype != tensors[i].dtype->torch_name || specs[i].shape != tensors[i].shape)
      return "tensor " + std::to_string(i) + " does not have the type and sizes that the manifest says";
  }
  return "";
}

bool IsOtherBatch(const std::vector<TensorBytes>& first, const std::vector<TensorBytes>& second) {
  return first.size() == second.size() &&
         !std::equal(first.begin(), first.end(), second.begin(),
                     [](const TensorBytes& a, const TensorBytes& b) { return a.shape == b.shape; });
}

Result<Recorded> ReadRecorded(const Package& package) {
  const Manifest& manifest = package.manifest;
  auto inputs = ReadTensors(manifest.inputs_json, "inputs", "name");
  if (!inputs) return inputs.error();
  auto outputs = ReadTensors(manifest.outputs_json, "outputs", "path");
  if (!outputs) return outputs.error();
  auto tolerance = ReadTolerance(manifest.tolerance_json);
  if (!tolerance) return tolerance.error();
  const json text = json::parse(package.manifest_text, nullptr, false);
  const auto flush = text.is_object() ? text.value("flush_denormals", json(false)) : json(false);
  if (!flush.is_boolean()) return Invalid("flush_denormals", "is neither true nor false");
  return Recorded{*std::move(inputs), *std::move(outputs), *std::move(tolerance), flush.get<bool>()};
}

}  // namespace breakwatch::artifact
