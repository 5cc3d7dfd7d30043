#include "breakwatch/core/repro.h"

#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "detail_fields.h"
#include "option_fields.h"

namespace breakwatch {
namespace {

constexpr std::size_t kMostSiteDigits = 64, kMaxReduced = 64;
constexpr double kMinSeconds = 1, kMaxSeconds = 86'400;

const option_fields::Field<ReproOptions> kFields[] = {
    {"site", "the id of a site", [](const json& in, ReproOptions& o) { return option_fields::Text(in, o.site); }},
    {"minimal", "true or false", [](const json& in, ReproOptions& o) { return option_fields::Flag(in, o.minimal); }},
    {"budget_s", "a number of seconds",
     [](const json& in, ReproOptions& o) { return option_fields::Number(in, o.budget_s); }},
};

bool IsSite(const std::string& id) {
  return id.size() >= kLeastSiteDigits && id.size() <= kMostSiteDigits &&
         id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<std::string> ReducedOf(const json& found) {
  std::vector<std::string> texts;
  for (const json& text : ListOf(found, "reduced")) {
    if (texts.size() == kMaxReduced) break;
    if (text.is_string()) texts.push_back(Truncate(ToUtf8(text.get_ref<const std::string&>()), kMaxDetailText));
  }
  return texts;
}

}  // namespace

Result<void> CheckRepro(const ReproOptions& o) {
  if (!o.site.empty() && !IsSite(o.site)) {
    return option_fields::Wrong("site",
                                "the id of a site, or at least its first 8 digits, as `show` prints it, not \"" +
                                    ShortLine(o.site, kMostSiteDigits) + "\"");
  }
  if (!(o.budget_s >= kMinSeconds && o.budget_s <= kMaxSeconds)) {
    return option_fields::Wrong("budget_s", "a number of seconds from 1 to 86400");
  }
  return {};
}

std::string ReproJson(const ReproOptions& o) {
  return JsonText(json{{"site", o.site}, {"minimal", o.minimal}, {"budget_s", o.budget_s}});
}

Result<ReproOptions> ReproOptionsFromJson(std::string_view text, ReproOptions defaults) {
  return option_fields::Read<ReproOptions>(text, kFields, &CheckRepro, std::move(defaults));
}

Result<Repro> ReadRepro(std::string_view text) {
  if (auto checked = CheckJson(text, kMaxMeasuredBytes, kMaxDetailDepth); !checked) return checked.error();
  const json in = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!in.is_object() || !in.contains("repro")) return WrongDetail("repro", "an object");
  const json& found = ObjectOf(in, "repro");
  Repro repro;
  if (found.contains("script") && found["script"].is_string()) {
    repro.script = ToUtf8(found["script"].get_ref<const std::string&>());
  }
  repro.why_not = TextOf(found, "why_not"), repro.differs = TextOf(found, "differs");
  repro.site_id = TextOf(found, "site_id"), repro.why_full = TextOf(found, "why_full");
  repro.minimal = FlagOf(found, "minimal");
  repro.reduced = ReducedOf(found);
  return repro;
}

}  // namespace breakwatch
