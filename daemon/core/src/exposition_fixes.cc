// The series of tried fixes: over all models, so that they are few.
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "exposition_labels.h"

namespace breakwatch {

void WriteFixes(ExpositionWriter& out, const Snapshot& snapshot) {
  static constexpr SeriesFamily kModels{
      "breakwatch_fix_models", "gauge",
      "Models on which a fix was tried, by outcome: alone, or as the recommended combination \"a+b\"."};
  static constexpr SeriesFamily kFixedBy{"breakwatch_reason_fixed_by", "gauge",
                                         "Models in which the fix, alone, removed every break event of the reason."};
  // By label text: names that are equal after truncation are one series.
  std::map<std::string, std::int64_t> models, fixed_by;
  for (const TrackedModel& model : snapshot.models) {
    const FixEffects* effects = snapshot.FixesOf(model);
    if (effects == nullptr) continue;
    for (const auto& [fix, outcome] : effects->outcomes) ++models[Labels({{"fix", fix}, {"outcome", outcome}})];
    for (const ReasonFixes& reason : effects->reasons) {
      for (const std::string& fix : reason.removed_by)
        ++fixed_by[Labels({{"reason", reason.reason}, {"gb_id", reason.gb_id}, {"fix", fix}})];
    }
  }
  out.Begin(kModels);
  for (const auto& [labels, count] : models) out.Sample(labels, "", count);
  out.Begin(kFixedBy);
  for (const auto& [labels, count] : fixed_by) out.Sample(labels, "", count);
}

}  // namespace breakwatch
