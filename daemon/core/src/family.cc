#include "breakwatch/core/family.h"

#include <array>

namespace breakwatch {
namespace {

constexpr std::array kFamilies = {Family::kNlp,        Family::kVision,  Family::kAudio,
                                  Family::kMultimodal, Family::kTabular, Family::kReinforcementLearning,
                                  Family::kOther,      Family::kUnknown};
constexpr std::array<std::string_view, kFamilies.size()> kNames = {
    "nlp", "vision", "audio", "multimodal", "tabular", "reinforcement_learning", "other", "unknown"};

}  // namespace

std::span<const Family> AllFamilies() { return kFamilies; }

std::string_view FamilyName(Family family) { return kNames[static_cast<std::size_t>(family)]; }

std::optional<Family> ParseFamily(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return kFamilies[i];
  }
  return std::nullopt;
}

}  // namespace breakwatch
