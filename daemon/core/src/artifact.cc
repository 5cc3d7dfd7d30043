#include "breakwatch/core/artifact.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

constexpr std::array kStages = {Stage::kFetch, Stage::kBuild, Stage::kCheck, Stage::kPublish};
constexpr std::array<std::string_view, 4> kNames = {"fetch", "build", "check", "publish"};
constexpr std::array<std::string_view, 4> kDone = {"fetched", "built", "checked", "published"};

}  // namespace

std::span<const Stage> AllStages() { return kStages; }
std::string_view StageName(Stage stage) { return kNames[static_cast<std::size_t>(stage)]; }
std::optional<Stage> ParseStage(std::string_view name) {
  for (const Stage stage : kStages) {
    if (StageName(stage) == name) return stage;
  }
  return std::nullopt;
}

std::string BuildKey(const ArtifactRequest& request) {
  // nlohmann::json sorts keys, so equal requests give equal bytes.
  return Sha256Hex(JsonText(nlohmann::json::parse(ToJson(request))));
}

const StageRecord* Artifact::Find(Stage stage) const {
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const StageRecord& r) { return r.stage == stage; });
  return found == stages.end() ? nullptr : &*found;
}

std::string Artifact::PackageId() const {
  const StageRecord* build = Find(Stage::kBuild);
  return build != nullptr && build->ok() ? build->package_id : "";
}

bool Artifact::IsChecked() const {
  const StageRecord* check = Find(Stage::kCheck);
  return check != nullptr && check->ok() && !PackageId().empty() && check->package_id == PackageId();
}

std::string Artifact::State() const {
  std::string state = "requested";
  for (const StageRecord& record : stages) {
    // Publications of an earlier package, and failed ones beside a good one, do not count.
    const bool other = record.stage == Stage::kPublish && record.package_id != PackageId();
    if (other || (record.stage == Stage::kPublish && !record.ok() && state == kDone.back())) continue;
    if (!record.ok() && record.stage != Stage::kPublish) return record.status;
    state = record.ok() ? std::string(kDone[static_cast<std::size_t>(record.stage)]) : record.status;
  }
  return state;
}

}  // namespace breakwatch
