#include "artifact_answer.h"

#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch::engine {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxLine = 1000, kMaxCause = 64;

// The statuses of a build's target and of a check, and the status of the stage.
struct Meaning {
  std::string_view answered, status;
};
constexpr Meaning kBuilds[] = {{"built", kStageOk},
                               {"failed", "failed_build"},
                               {"wrong_result", "wrong_result"},
                               {"timeout", "timeout"},
                               {"skipped", "skipped_missing_dependency"}};
constexpr Meaning kChecks[] = {{"ok", kStageOk},
                               {"wrong_result", "wrong_result"},
                               {"failed_check", "failed_check"},
                               {"refused", "failed_check"},
                               {"timeout", "timeout"},
                               {"crashed", "crashed"}};

template <std::size_t N>
std::string StatusOf(const Meaning (&meanings)[N], const std::string& answered, std::string_view otherwise) {
  for (const Meaning& meaning : meanings) {
    if (meaning.answered == answered) return std::string(meaning.status);
  }
  return std::string(otherwise);
}

std::string Text(const json& object, const char* key, std::size_t max_bytes) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_string()) return "";
  return ShortLine(found->get_ref<const std::string&>(), max_bytes);
}

const json& Member(const json& object, const std::string& key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

}  // namespace

void TakeAnswer(const CaptureResult& result, const std::string& target, StageRecord& record) {
  const json detail = json::parse(result.mode_detail_json, nullptr, /*allow_exceptions=*/false);
  const json& answer = Member(Member(detail, "targets"), target);
  if (!answer.is_object()) {  // the worker did not come so far, or was ended
    record.status = HasNumbers(result.status) ? "failed_build" : StatusName(result.status);
    record.cause = result.phase;
    record.detail = result.detail;
    return;
  }
  record.status = StatusOf(kBuilds, Text(answer, "status", kMaxCause), "failed_build");
  // A package that computes something else was built, but is of no use: that says more than a failed build.
  if (!record.ok() && Text(Member(answer, "check"), "status", kMaxCause) == "wrong_result")
    record.status = "wrong_result";
  record.cause = record.ok() ? "" : Text(answer, "cause", kMaxCause);
  record.detail = Text(answer, "detail", kMaxLine);
  if (record.detail.empty()) record.detail = record.ok() ? "built" : result.detail;
  record.report_json = JsonText(answer);
}

std::string LogOf(const CaptureResult& result) {
  return result.output_tail + (result.output_tail.empty() || result.output_tail.ends_with('\n') ? "" : "\n") +
         result.error + (result.error.empty() || result.error.ends_with('\n') ? "" : "\n") +
         std::string(StatusName(result.status)) + ": " + result.detail + "\n";
}

std::optional<PackageVerdict> RecordedVerdict(const StageRecord& build) {
  const json report = json::parse(build.report_json, nullptr, /*allow_exceptions=*/false);
  const json& check = Member(report, "check");
  if (!check.is_object()) return std::nullopt;
  return PackageVerdict{Text(check, "status", kMaxCause), Text(check, "detail", kMaxLine), JsonText(check)};
}

void TakeVerdict(const PackageVerdict& verdict, StageRecord& record) {
  record.status = StatusOf(kChecks, verdict.status, "failed_check");
  record.cause = verdict.status == "refused" ? "refused" : "";
  record.detail = verdict.detail.empty() && record.ok() ? "outputs equal the recorded ones" : verdict.detail;
  record.report_json = verdict.report_json;
}

}  // namespace breakwatch::engine
