#include "yaml_json.h"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "breakwatch/core/json_text.h"

namespace breakwatch::config {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 32, kMaxValues = 10'000;

json Scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  const json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_primitive() && !value.is_string() ? value : json(text);
}

json Convert(const YAML::Node& node, int depth, int& values) {
  if (depth > kMaxDepth) throw std::length_error("more than " + std::to_string(kMaxDepth) + " levels deep");
  if (++values > kMaxValues) throw std::length_error("more than " + std::to_string(kMaxValues) + " values");
  if (node.IsScalar()) return Scalar(node);
  if (node.IsNull()) return {};
  if (node.IsSequence()) {
    json list = json::array();
    for (const YAML::Node& item : node) list.push_back(Convert(item, depth + 1, values));
    return list;
  }
  json object = json::object();
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) throw std::length_error("a key is no text");
    object[entry.first.Scalar()] = Convert(entry.second, depth + 1, values);
  }
  return object;
}

}  // namespace

Result<std::string> JsonOf(const YAML::Node& node) {
  try {
    int values = 0;
    return JsonText(Convert(node, 0, values));
  } catch (const std::length_error& error) {
    return Error{ErrorCode::kConfig, error.what()};
  }
}

}  // namespace breakwatch::config
