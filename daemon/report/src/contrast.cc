#include "contrast.h"

#include <map>
#include <set>
#include <tuple>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxNames = 8;

// The mode that a result is compared with; empty: none.
std::string BaseMode(const std::string& name) {
  const ModeParts parts = SplitMode(name);
  if (!parts.call.empty()) return std::string(parts.mode);
  return parts.mode == kColdMode ? std::string(kMainMode) : std::string();
}

bool IsAnswer(const CaptureResult& c) {
  return !IsSkipped(c.status) && !IsIncomplete(c.status) && c.status != Status::kQuarantined;
}

std::set<std::string> SiteIds(const CaptureResult& c) {
  std::set<std::string> ids;
  for (const BreakSite& site : c.sites) ids.insert(site.site_id);
  return ids;
}

bool Differ(const ModelResult& base, const ModelResult& other) {
  const CaptureResult &a = base.capture, &b = other.capture;
  if (base.info.sha != other.info.sha || !IsAnswer(a) || !IsAnswer(b)) return false;
  return std::tie(a.status, a.breaks, a.break_sites) != std::tie(b.status, b.breaks, b.break_sites) ||
         SiteIds(a) != SiteIds(b);
}

std::string Outcome(const CaptureResult& c) {
  if (c.status == Status::kFullGraph) return "no breaks";
  if (c.status != Status::kGraphBreaks || !c.breaks) return std::string(StatusName(c.status));
  return Counted(*c.breaks, "break") + (c.break_sites ? " at " + Counted(*c.break_sites, "site") : "");
}

std::set<std::string> ArgumentsOf(const CaptureResult& c) {
  std::set<std::string> names;
  const Json inputs = Json::parse(c.inputs_json, nullptr, /*allow_exceptions=*/false);
  if (!inputs.is_object()) return names;
  for (const auto& [name, value] : inputs.items()) names.insert(name);
  return names;
}

// "a, b and 3 more": the items of `here` that are not in `there`.
std::string OnlyIn(const std::set<std::string>& here, const std::set<std::string>& there) {
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : here) {
    if (there.contains(name) || ++count > kMaxNames) continue;
    text += (text.empty() ? "" : ", ") + name;
  }
  return count > kMaxNames ? text + " and " + std::to_string(count - kMaxNames) + " more" : text;
}

std::string OfCalls(const CaptureResult& base, const CaptureResult& other) {
  const auto passed = ArgumentsOf(base), passed_other = ArgumentsOf(other);
  const std::string more = OnlyIn(passed, passed_other), more_other = OnlyIn(passed_other, passed);
  const std::string a = Outcome(base), b = Outcome(other);
  const bool one_sided = more.empty() != more_other.empty();
  if (one_sided && more_other.empty()) return a + " with " + more + ", " + b + " without (" + other.mode + ")";
  if (one_sided) return a + " without " + more_other + ", " + b + " with (" + other.mode + ")";
  const auto side = [](const std::string& what, const std::string& name, const std::string& arguments) {
    return what + " as " + name + (arguments.empty() ? "" : " with " + arguments);
  };
  return side(a, base.mode, more) + ", " + side(b, other.mode, more_other);
}

}  // namespace

std::vector<Contrast> ContrastsOf(std::span<const ModelResult* const> results) {
  using Key = std::tuple<std::string, std::string, std::string>;  // model, toolchain, mode
  std::map<Key, const ModelResult*> known;
  for (const ModelResult* r : results) known.emplace(Key{r->info.id, r->capture.toolchain.name, r->capture.mode}, r);
  std::vector<Contrast> contrasts;
  for (const auto& [key, other] : known) {
    const auto& [model, toolchain, mode] = key;
    const auto base = known.find({model, toolchain, BaseMode(mode)});
    if (base != known.end() && Differ(*base->second, *other)) contrasts.push_back({base->second, other});
  }
  return contrasts;
}

std::string ContrastText(const Contrast& contrast) {
  const CaptureResult &base = contrast.base->capture, &other = contrast.other->capture;
  const std::string elsewhere = Outcome(base) == Outcome(other) ? "; at other sites" : "";
  if (!SplitMode(other.mode).call.empty()) return OfCalls(base, other) + elsewhere;
  return ModeText(*contrast.other) + ": " + Outcome(other) + "; " + ModeText(*contrast.base) + ": " + Outcome(base) +
         elsewhere;
}

std::string ModeText(const ModelResult& result) {
  const ModeParts parts = SplitMode(result.capture.mode);
  std::string text = result.capture.mode;
  if (parts.mode == kColdMode) text += ", the first call";
  if (parts.mode == kMainMode) {
    text += RunsOwnCode(result.info) ? ", your own code at its first call" : ", the steady state after a first call";
  }
  if (parts.call == "minimal") text += ", called with the required arguments only";
  if (parts.call == "all") text += ", called with every optional tensor";
  return text;
}

}  // namespace breakwatch::report
