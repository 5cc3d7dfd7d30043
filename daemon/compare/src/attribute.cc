#include "breakwatch/compare/attribute.h"

#include <bit>
#include <set>

namespace breakwatch::compare {
namespace {

// How a value changes when only one factor becomes new; nullopt if a combination is missing.
struct Flips {
  std::optional<std::int64_t> from_old, to_new;
  bool Known() const { return from_old || to_new; }
  bool Moves() const { return from_old.value_or(0) != 0 || to_new.value_or(0) != 0; }
  bool Agree() const { return !from_old || !to_new || *from_old == *to_new; }
};

std::optional<std::int64_t> Change(const CombinationValues& values, unsigned from, unsigned to) {
  if (!values[from] || !values[to]) return std::nullopt;
  return *values[to] - *values[from];
}

std::vector<unsigned> Each(unsigned factors) {
  std::vector<unsigned> bits;
  for (unsigned bit = 1; bit < kCombinations; bit <<= 1) {
    if (factors & bit) bits.push_back(bit);
  }
  return bits;
}

Flips FlipsOf(const CombinationValues& values, unsigned factor, unsigned all) {
  return {Change(values, 0, factor), Change(values, all & ~factor, all)};
}

// The required combinations without a value.
unsigned Missing(const CombinationValues& values, unsigned all) {
  unsigned missing = 0;
  for (unsigned combination = 0; combination < kCombinations; ++combination) {
    if ((combination & ~all) == 0 && !values[combination]) missing |= 1u << combination;
  }
  return missing;
}

struct Evidence {
  unsigned movers = 0, unknown = 0;
  bool agree = true, any_from_old = false, any_to_new = false;
  std::int64_t sum = 0;  // the sum of one flip per factor
};

Evidence Gather(const CombinationValues& values, unsigned all) {
  Evidence e;
  for (const unsigned factor : Each(all)) {
    const Flips flips = FlipsOf(values, factor, all);
    if (!flips.Known()) e.unknown |= factor;
    if (flips.Moves()) e.movers |= factor;
    e.agree = e.agree && flips.Agree();
    e.any_from_old = e.any_from_old || flips.from_old.value_or(0) != 0;
    e.any_to_new = e.any_to_new || flips.to_new.value_or(0) != 0;
    e.sum += flips.from_old ? *flips.from_old : flips.to_new.value_or(0);
  }
  return e;
}

// The factors that the value depends on if the flips disagree. A combination between the ends may differ from both.
unsigned Involved(const CombinationValues& values, unsigned all) {
  unsigned involved = 0;
  for (const unsigned factor : Each(all)) {
    for (unsigned combination = 0; combination < kCombinations; ++combination) {
      if ((combination & ~all) || (combination & factor)) continue;
      if (Change(values, combination, combination | factor).value_or(0) != 0) involved |= factor;
    }
  }
  return involved;
}

// Together: the value is new only if all of `factors` are new. Any: it is old only if all of them are old.
Cause KindOfInteraction(const CombinationValues& values, unsigned factors, unsigned all) {
  bool together = true, any = true;
  for (unsigned combination = 0; combination < kCombinations; ++combination) {
    if ((combination & ~all) || !values[combination]) continue;
    const bool has_all = (combination & factors) == factors, has_none = (combination & factors) == 0;
    together = together && *values[combination] == (has_all ? *values[all] : *values[0]);
    any = any && *values[combination] == (has_none ? *values[0] : *values[all]);
  }
  return together ? Cause::kTogether : any ? Cause::kAny : Cause::kInteraction;
}

Attribution Interacting(const CombinationValues& values, unsigned all, Attribution out) {
  out.factors = Involved(values, all);
  if (out.factors == 0) out.factors = all;  // the combinations that would separate them are missing
  out.cause = KindOfInteraction(values, out.factors, all);
  return out;
}

// True if every combination between the ends equals the sum of its flips.
bool IsSum(const CombinationValues& values, unsigned all) {
  for (unsigned combination = 0; combination < kCombinations; ++combination) {
    if ((combination & ~all) || !values[combination]) continue;
    std::int64_t sum = *values[0];
    for (const unsigned factor : Each(combination)) {
      const Flips flips = FlipsOf(values, factor, all);
      if (!flips.Known()) return true;  // no evidence against it
      sum += flips.from_old ? *flips.from_old : *flips.to_new;
    }
    if (sum != *values[combination]) return false;
  }
  return true;
}

}  // namespace

std::string FactorNames(unsigned factors) {
  static constexpr std::string_view kNames[] = {"torch", "transformers", "the model's commit"};
  std::string text;
  const auto bits = Each(factors);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    text += i == 0 ? "" : i + 1 == bits.size() ? " and " : ", ";
    text += kNames[std::countr_zero(bits[i])];
  }
  return text.empty() ? "nothing" : text;
}

std::string_view CauseName(Cause cause) {
  static constexpr std::string_view kNames[] = {"nothing", "alone",       "each",   "together",
                                                "any",     "interaction", "unknown"};
  return kNames[static_cast<std::size_t>(cause)];
}

Attribution Attribute(const CombinationValues& values, unsigned factors) {
  const unsigned all = factors & kAllFactors;
  Attribution out;
  out.missing = Missing(values, all);
  out.certain = out.missing == 0;
  if (!values[0] || !values[all]) return out;
  if (*values[0] == *values[all]) {
    out.cause = Cause::kNothing, out.certain = true;
    return out;
  }
  const Evidence e = Gather(values, all);
  if (!e.agree || (e.unknown == 0 && !IsSum(values, all))) return Interacting(values, all, out);
  const std::int64_t rest = *values[all] - *values[0] - e.sum;
  out.factors = e.movers;
  if (rest != 0) {
    // The change that the known flips do not explain is due to the single factor without combinations.
    if (std::popcount(e.unknown) != 1) return out.factors = 0, out;
    out.factors |= e.unknown;
  }
  out.cause = std::popcount(out.factors) == 1 ? Cause::kAlone : Cause::kEach;
  return out;
}

namespace {

const CombinationResult* At(const std::vector<CombinationResult>& combinations, unsigned combination) {
  for (const CombinationResult& entry : combinations) {
    if (entry.combination == combination) return &entry;
  }
  return nullptr;
}

bool HasNumbers(const CombinationResult& combination) {
  return combination.result && breakwatch::HasNumbers(combination.result->capture.status);
}

std::map<std::string, std::int64_t> EventsBySite(const CaptureResult& capture) {
  std::map<std::string, std::int64_t> events;
  for (const BreakSite& site : capture.sites) events[site.site_id] += site.occurrences;
  return events;
}

// Equal outcomes have equal text: the status, and with numbers also every site and its events.
std::string Signature(const CombinationResult& combination, bool numbers) {
  const CaptureResult& capture = combination.result->capture;
  if (!numbers) return std::string(StatusName(capture.status));
  std::string text;
  for (const auto& [site, events] : EventsBySite(capture)) text += site + ' ' + std::to_string(events) + '\n';
  return text;
}

// Converts outcomes to numbers that are equal exactly if the outcomes are, and that never add up by chance. 0 is the
// old outcome, 1 the new one, and powers of a thousand are others. If both ends have numbers, a combination without
// numbers has no value. Otherwise the status changed.
CombinationValues OutcomesOf(const std::vector<CombinationResult>& combinations, unsigned factors, bool numbers) {
  CombinationValues values;
  std::map<std::string, std::int64_t> known{{Signature(*At(combinations, 0), numbers), 0}};
  known.emplace(Signature(*At(combinations, factors), numbers), 1);
  std::int64_t next = 1000;
  for (const CombinationResult& combination : combinations) {
    if (!combination.result || (numbers && !HasNumbers(combination))) continue;
    const auto [entry, is_other] = known.emplace(Signature(combination, numbers), next);
    if (is_other && next < 1'000'000'000'000'000) next *= 1000;
    values[combination.combination] = entry->second;
  }
  return values;
}

std::vector<ChangedSite> ChangedSitesOf(const std::vector<CombinationResult>& combinations, unsigned factors) {
  std::map<std::string, const BreakSite*> sites;
  for (const unsigned end : {0u, factors}) {
    for (const BreakSite& site : At(combinations, end)->result->capture.sites) sites[site.site_id] = &site;
  }
  std::vector<ChangedSite> moved;
  for (const auto& [id, site] : sites) {
    CombinationValues values;
    for (const CombinationResult& combination : combinations) {
      if (!HasNumbers(combination)) continue;
      const auto events = EventsBySite(combination.result->capture);
      const auto found = events.find(id);
      values[combination.combination] = found == events.end() ? 0 : found->second;
    }
    if (*values[0] == *values[factors]) continue;
    moved.push_back({*site, *values[0], *values[factors], Attribute(values, factors)});
  }
  return moved;
}

std::string TextOf(const Attribution& by) {
  const std::string names = FactorNames(by.factors);
  switch (by.cause) {
    case Cause::kNothing:
      return "no change: both states have the same breaks";
    case Cause::kAlone:
      return names + " changed it";
    case Cause::kEach:
      return names + " changed it, each a part of it";
    case Cause::kTogether:
      return names + " changed it together: it changes only if all of them are new";
    case Cause::kAny:
      return names + " changed it: each of them alone is enough";
    case Cause::kInteraction:
      return names + " changed it by interaction";
    case Cause::kUnknown:
      break;
  }
  return "the cause is unknown";
}

// Derives the attribution of the whole outcome from its sites. Outcomes cannot be added; events of a site can.
Attribution Combine(const std::vector<ChangedSite>& sites, unsigned missing) {
  Attribution out;
  out.missing = missing;
  std::set<Cause> causes;
  for (const ChangedSite& site : sites) {
    causes.insert(site.by.cause);
    out.factors |= site.by.factors;
    out.certain = out.certain && site.by.certain;
  }
  const bool simple = !causes.contains(Cause::kUnknown) && !causes.contains(Cause::kInteraction) &&
                      !causes.contains(Cause::kTogether) && !causes.contains(Cause::kAny);
  if (causes.size() == 1 && *causes.begin() != Cause::kAlone) {
    out.cause = *causes.begin();
  } else if (simple) {
    out.cause = std::popcount(out.factors) == 1 ? Cause::kAlone : Cause::kEach;
  } else {
    out.cause = causes.contains(Cause::kUnknown) ? Cause::kUnknown : Cause::kInteraction;
  }
  return out;
}

// True if all sites have the same factors. Sites with different factors change independently, whatever their cause.
bool SameFactors(const std::vector<ChangedSite>& sites) {
  for (const ChangedSite& site : sites) {
    if (site.by.factors != sites.front().by.factors) return false;
  }
  return true;
}

}  // namespace

Bisection Bisect(const std::string& model, unsigned factors, std::vector<CombinationResult> combinations) {
  Bisection out;
  out.model = model, out.factors = factors, out.combinations = std::move(combinations);
  const CombinationResult *old_end = At(out.combinations, 0), *new_end = At(out.combinations, factors);
  if (old_end == nullptr || new_end == nullptr || !old_end->result || !new_end->result) {
    out.text = "the cause is unknown: the old or the new state could not be captured";
    return out;
  }
  const bool numbers = HasNumbers(*old_end) && HasNumbers(*new_end);
  const CombinationValues outcomes = OutcomesOf(out.combinations, factors, numbers);
  out.verdict = Attribute(outcomes, factors);
  if (numbers && out.verdict.cause != Cause::kNothing) {
    out.sites = ChangedSitesOf(out.combinations, factors);
    if (!out.sites.empty()) {
      out.verdict = Combine(out.sites, out.verdict.missing);
      if (!SameFactors(out.sites) && out.verdict.cause != Cause::kEach && out.verdict.cause != Cause::kUnknown) {
        out.verdict.cause = Cause::kInteraction;
      }
    }
  }
  out.text = TextOf(out.verdict);
  if (!out.verdict.certain && out.verdict.cause != Cause::kNothing) {
    out.text += out.verdict.cause == Cause::kUnknown ? ": too few combinations could be captured"
                                                     : ", as far as known: some combinations could not be captured";
  }
  return out;
}

}  // namespace breakwatch::compare
