#include "breakwatch/core/fix.h"

#include <set>

#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "detail_fields.h"
#include "option_fields.h"

namespace breakwatch {
namespace {

constexpr std::size_t kMaxNames = 64, kMaxNameBytes = 64, kMaxAttempts = 1024, kMaxLines = 64, kMaxSites = 4096;
constexpr double kMinSeconds = 1, kMaxSeconds = 86'400;

bool IsTime(double seconds) { return seconds >= kMinSeconds && seconds <= kMaxSeconds; }

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

const option_fields::Field<FixOptions> kFields[] = {
    {"names", "a list of fixes",
     [](const json& in, FixOptions& o) { return option_fields::List(in, o.names, option_fields::Text); }},
    {"combine", "true or false", [](const json& in, FixOptions& o) { return option_fields::Flag(in, o.combine); }},
    {"budget_s", "a number of seconds",
     [](const json& in, FixOptions& o) { return option_fields::Number(in, o.budget_s); }},
    {"attempt_s", "a number of seconds",
     [](const json& in, FixOptions& o) { return option_fields::Number(in, o.attempt_s); }},
};

std::vector<std::string> TextsOf(const json& in, const char* name, std::size_t most) {
  std::vector<std::string> texts;
  for (const json& text : ListOf(in, name)) {
    if (texts.size() == most) break;
    if (text.is_string()) texts.push_back(Truncate(ToUtf8(text.get_ref<const std::string&>()), kMaxDetailText));
  }
  return texts;
}

FixCounts CountsOf(const json& in) {
  return {CountOf(in, "breaks"), CountOf(in, "sites"), CountOf(in, "graphs"), CountOf(in, "ops")};
}

FixAttempt AttemptOf(const json& in) {
  FixAttempt attempt;
  attempt.names = TextsOf(in, "names", kMaxNames);
  attempt.kinds = TextsOf(in, "kinds", kMaxNames);
  attempt.status = TextOf(in, "status"), attempt.detail = TextOf(in, "detail");
  if (attempt.status == "ok") {
    attempt.outcome = TextOf(in, "outcome");
    attempt.after = CountsOf(ObjectOf(in, "after"));
    attempt.removed = TextsOf(in, "removed", kMaxSites);
  }
  attempt.python = TextsOf(in, "python", kMaxLines);
  attempt.caution = TextOf(in, "caution");
  attempt.max_abs = NumberOf(in, "max_abs"), attempt.seconds = NumberOf(in, "seconds");
  return attempt;
}

UnfixedSite SiteOf(const json& in) {
  UnfixedSite left;
  BreakSite& site = left.site;
  site.site_id = TextOf(in, "site_id"), site.reason = TextOf(in, "reason"), site.gb_id = TextOf(in, "gb_id");
  site.file = TextOf(in, "file"), site.function = TextOf(in, "function");
  site.line = SmallOf(in, "line");
  site.explanation = TextOf(in, "explanation");
  site.stack = TextsOf(in, "stack", kMaxLines), site.hints = TextsOf(in, "hints", kMaxLines);
  left.owner = TextOf(in, "owner");
  return left;
}

std::pair<std::string, std::string> NotApplicableOf(const json& in) { return {TextOf(in, "name"), TextOf(in, "why")}; }

}  // namespace

Result<void> CheckFixNames(const std::vector<std::string>& names, const std::string& option) {
  const std::set<std::string> different(names.begin(), names.end());
  if (different.size() == names.size() && names.size() <= kMaxNames && std::all_of(names.begin(), names.end(), IsName))
    return {};
  return option_fields::Wrong(option, "at most 64 different names of fixes, such as capture_scalar_outputs");
}

Result<void> CheckFix(const FixOptions& o) {
  if (auto checked = CheckFixNames(o.names, "names"); !checked) return checked;
  if (!IsTime(o.budget_s)) return option_fields::Wrong("budget_s", "a number of seconds from 1 to 86400");
  if (!IsTime(o.attempt_s)) return option_fields::Wrong("attempt_s", "a number of seconds from 1 to 86400");
  return {};
}

std::string FixJson(const FixOptions& o) {
  return JsonText(
      json{{"names", o.names}, {"combine", o.combine}, {"budget_s", o.budget_s}, {"attempt_s", o.attempt_s}});
}

Result<FixOptions> FixOptionsFromJson(std::string_view text, FixOptions defaults) {
  return option_fields::Read<FixOptions>(text, kFields, &CheckFix, std::move(defaults));
}

std::string FixAttempt::Name() const {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " + ") + name;
  return text;
}

Result<TriedFixes> ReadTriedFixes(std::string_view text) {
  if (auto checked = CheckJson(text, kMaxMeasuredBytes, kMaxDetailDepth); !checked) return checked.error();
  const json in = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!in.is_object()) return WrongDetail("mode_detail", "an object");
  if (!in.contains("attempts") || !in["attempts"].is_array()) return WrongDetail("attempts", "a list");
  TriedFixes tried;
  tried.chosen = TextsOf(ObjectOf(in, "fix"), "names", kMaxNames);
  tried.before = CountsOf(ObjectOf(in, "before"));
  tried.attempts = ListOf(in, "attempts", kMaxAttempts, &AttemptOf);
  if (const auto best = NumberOf(in, "best");
      best && *best >= 0 && *best < static_cast<double>(tried.attempts.size())) {
    tried.best = static_cast<std::size_t>(*best);
  }
  tried.left = ListOf(in, "left", kMaxSites, &SiteOf);
  tried.not_applicable = ListOf(in, "not_applicable", kMaxNames, &NotApplicableOf);
  tried.stopped = TextOf(in, "stopped");
  return tried;
}

}  // namespace breakwatch
