// A small package on disk: a manifest and the files that it lists.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "breakwatch/core/text.h"

namespace breakwatch::fakes {

inline std::map<std::string, std::string> SampleFiles() {
  return {{"package.pt2", "compiled"}, {"inputs.safetensors", "inputs"}, {"outputs.safetensors", "outputs"}};
}

inline nlohmann::json SampleManifest(const std::map<std::string, std::string>& files = SampleFiles()) {
  nlohmann::json manifest = {
      {"schema", 1},
      {"model", "org/name"},
      {"revision", std::string(40, 'a')},
      {"family", "nlp"},
      {"architecture", "BertModel"},
      {"model_type", "bert"},
      {"task", "fill-mask"},
      {"target", "aot_inductor"},
      {"torch", "2.15.0"},
      {"torch_abi", "cxx11"},
      {"transformers", "5.23.0"},
      {"python", "3.11.2"},
      {"worker", "w1"},
      {"cpu_capability", "avx2"},
      {"device", "cpu"},
      {"dtype", "float32"},
      {"size", "reduced"},
      {"weights", {{"kind", "random"}, {"seed", 0}, {"digest", ""}}},
      {"batch", 1},
      {"dynamic", false},
      {"inputs", {{{"name", "input_ids"}, {"dtype", "int64"}, {"shape", {1, 16}}}}},
      {"outputs", {{{"path", "last_hidden_state"}, {"dtype", "float32"}, {"shape", {1, 16, 64}}}}},
      {"tolerance", {{"float32", {{"rtol", 1e-4}, {"atol", 1e-5}}}}},
      {"structure", "s"},
      {"breaks", 0},
      {"graphs", 1},
      {"built_at", "2026-11-21T02:05:12Z"},
      {"files", nlohmann::json::array()}};
  for (const auto& [name, content] : files)
    manifest["files"].push_back({{"path", name}, {"sha256", Sha256Hex(content)}, {"bytes", content.size()}});
  return manifest;
}

// Returns the package's id.
inline std::string WriteSamplePackage(const std::filesystem::path& folder,
                                      const std::map<std::string, std::string>& files = SampleFiles(),
                                      const nlohmann::json& manifest = {}) {
  std::filesystem::create_directories(folder);
  for (const auto& [name, content] : files) std::ofstream(folder / name, std::ios::binary) << content;
  const std::string text = (manifest.is_null() ? SampleManifest(files) : manifest).dump(2);
  std::ofstream(folder / "manifest.json", std::ios::binary) << text;
  return Sha256Hex(text);
}

}  // namespace breakwatch::fakes
