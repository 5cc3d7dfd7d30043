// Family: the label that groups models on dashboards, a closed set.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace breakwatch {

enum class Family { kNlp, kVision, kAudio, kMultimodal, kTabular, kReinforcementLearning, kOther, kUnknown };

std::span<const Family> AllFamilies();
std::string_view FamilyName(Family family);
std::optional<Family> ParseFamily(std::string_view name);

}  // namespace breakwatch
