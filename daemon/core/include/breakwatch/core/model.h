// What the Hub (or another source) reports about a model, and the ranked list of models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/family.h"
#include "breakwatch/core/status.h"

namespace breakwatch {

struct ModelInfo {
  std::string id;            // canonical: its current name on the Hub
  std::string requested_id;  // the requested name, if the Hub renamed it; else empty
  std::string hub_id;        // the Hub's "_id", the key that duplicates share; empty for other sources
  std::string sha;           // commit, 40 hex; for a local config the first 40 hex of its SHA-256; empty if unresolved
  Family family = Family::kUnknown;
  std::string task;     // pipeline_tag
  std::string library;  // library_name
  std::string model_type;
  std::vector<std::string> architectures;
  std::optional<std::int64_t> params;     // parameters by safetensors metadata
  std::optional<std::int64_t> downloads;  // of the last 30 days
  std::optional<std::int64_t> likes;
  std::string license;  // by the tags of the list, "apache-2.0"; empty: it has none
  std::string gated;    // "", "auto" or "manual"
  bool is_private = false;
  bool disabled = false;
  bool custom_code = false;   // the repository ships modelling code (auto_map)
  std::string config_source;  // "hub", "cache", "file" or "class_default"
  int rank = 0;               // from 1; 0 when the source has no ranking
};

// One entry of a ranked list: ready to capture, or excluded with a status and a text.
struct RankedModel {
  ModelInfo info;
  std::string config_json;         // the pinned config.json, text of a JSON object; empty when excluded
  std::optional<Status> excluded;  // skipped_* or failed_resolve
  std::string detail;              // never empty when excluded
};

struct RankedList {
  std::string source;   // "hub", "snapshot", "file" or "directory", then a space and the endpoint or path
  bool ranked = false;  // true for a listing by rank: replaces the tracked set; false for models requested by name
  std::vector<RankedModel> models;    // best rank first
  std::vector<std::string> warnings;  // for the operator: X-HF-Warning texts, duplicates, an early end of the listing
};

}  // namespace breakwatch
