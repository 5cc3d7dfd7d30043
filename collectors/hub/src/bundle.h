// A diffusers pipeline: several models, each with a configuration of its own, as one document:
//   {"model_index": {...}, "components": {"unet": {...}, "text_encoder": {...}}}
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "breakwatch/core/model.h"
#include "breakwatch/core/result.h"
#include "breakwatch/hub/hub_options.h"
#include "families.h"

namespace breakwatch::hub {

inline constexpr const char* kModelIndex = "model_index.json";

// "unet" -> "unet/config.json".
std::string ComponentConfig(const std::string& component);

// The components of a model_index.json that may be models, so without schedulers, tokenizers and processors. Their
// number is limited, and every name is safe as a folder name. Error: kInvalid with the problem of the file.
Result<std::vector<std::string>> ComponentsOf(const std::string& model_index, const HubOptions& options);

// The document. `configs`: raw JSON texts by component.
std::string BundleText(const std::string& model_index, const std::map<std::string, std::string>& configs);

// The document of a folder on disk. A component without a config.json is skipped. Error: kNotFound without a
// model_index.json, kInvalid.
Result<std::string> ReadBundle(const std::filesystem::path& folder, const HubOptions& options);

// TakeConfig for a bundle: the class of the pipeline becomes the model's class.
void TakeBundle(std::string bundle, const FamilyTable& families, const HubOptions& options, RankedModel& model);

}  // namespace breakwatch::hub
