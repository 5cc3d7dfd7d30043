#include "breakwatch/core/model_rules.h"

namespace breakwatch {
namespace {

template <class T>
void Take(T& into, const T& from) {
  if (from != T()) into = from;
}

void Take(LimitOverrides& into, const LimitOverrides& from) {
  Take(into.create, from.create);
  Take(into.inputs, from.inputs);
  Take(into.eager, from.eager);
  Take(into.capture, from.capture);
  Take(into.rss_bytes, from.rss_bytes);
}

}  // namespace

CaptureLimits LimitOverrides::Over(CaptureLimits limits) const {
  limits.create = create.value_or(limits.create);
  limits.inputs = inputs.value_or(limits.inputs);
  limits.eager = eager.value_or(limits.eager);
  limits.capture = capture.value_or(limits.capture);
  limits.rss_bytes = rss_bytes.value_or(limits.rss_bytes);
  return limits;
}

ModelOverride OverrideOf(const ModelInfo& info, const ModelRules& rules) {
  ModelOverride all;
  if (rules.overrides.empty()) return all;
  const FilterSubject subject = SubjectOf(info, rules.owners);
  for (const ModelOverride& one : rules.overrides) {
    if (!one.models.Matches(subject)) continue;
    Take(all.inputs_json, one.inputs_json);
    Take(all.modes, one.modes);
    Take(all.limits, one.limits);
    Take(all.dtype, one.dtype);
    Take(all.attention, one.attention);
    if (!one.skip.empty()) all.skip = one.skip, all.skip_place = one.skip_place;
  }
  return all;
}

}  // namespace breakwatch
