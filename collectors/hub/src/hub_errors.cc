#include "hub_errors.h"

#include <algorithm>
#include <map>

#include "breakwatch/core/text.h"
#include "json_values.h"

namespace breakwatch::hub {
namespace {

std::string Quoted(const std::string& message) {
  return message.empty() ? "" : " (the Hub's message: " + message + ")";
}

struct Refusal {
  const net::HttpResponse& response;
  const std::string& id;
  std::string revision;
  const HubOptions& options;
  std::string message;
};

Exclusion Gated(const Refusal& refusal) {
  const std::string page = refusal.options.endpoint + "/" + refusal.id;
  const std::string suggestion = refusal.options.token.empty()
                                     ? "request access at " + page + " and set HF_TOKEN"
                                     : "the token's owner has no access; request it at " + page;
  return {Status::kSkippedGated, "gated: " + suggestion + Quoted(refusal.message)};
}

Exclusion NoFile(const Refusal& refusal) {
  return {Status::kSkippedNoConfig, "the repository has no config.json at " + refusal.revision};
}

Exclusion NoRevision(const Refusal& refusal) {
  return {Status::kFailedResolve, "the repository has no revision " + refusal.revision + Quoted(refusal.message)};
}

Exclusion NoRepository(const Refusal& refusal) {
  const std::string what = refusal.options.token.empty() ? "no such repository, or a private one"
                                                         : "no such repository, or the token has no access";
  return {Status::kSkippedNotFound, what + Quoted(refusal.message)};
}

Exclusion ByStatus(const Refusal& refusal) {
  const int status = refusal.response.status;
  const std::string code = "HTTP " + std::to_string(status);
  const bool names_disabled = refusal.message.find("is disabled") != std::string::npos;
  if (status == 403 && names_disabled) return {Status::kSkippedDisabled, "disabled" + Quoted(refusal.message)};
  if (status == 451)
    return {Status::kSkippedDisabled, "withheld for legal reasons (HTTP 451)" + Quoted(refusal.message)};
  if (status == 401 && refusal.message.find("Invalid credentials") != std::string::npos) {
    return {Status::kFailedResolve, "the Hub rejects the token (HTTP 401)" + Quoted(refusal.message)};
  }
  if (status == 401) {
    return {Status::kSkippedNotFound,
            "missing or private: the Hub does not distinguish them without access (HTTP 401)" +
                std::string(refusal.options.token.empty() ? "; set HF_TOKEN if it is yours" : "") +
                Quoted(refusal.message)};
  }
  if (status == 404 && refusal.response.body.starts_with("Entry not found")) return NoFile(refusal);
  return {Status::kFailedResolve, code + Quoted(refusal.message)};
}

}  // namespace

std::string OneLine(std::string_view text) {
  constexpr std::size_t kMaxMessageBytes = 300;
  return ShortLine(text, kMaxMessageBytes);
}

std::string Shown(const Result<net::HttpResponse>& answer) {
  if (!answer) return answer.error().message;
  const std::string message = HubMessage(*answer);
  return "HTTP " + std::to_string(answer->status) + (message.empty() ? "" : ": " + message);
}

std::string HubMessage(const net::HttpResponse& response) {
  if (const auto header = response.Header("x-error-message")) return OneLine(*header);
  constexpr std::size_t kMaxBody = 64u << 10;
  const Result<Json> body = ParseJson(response.body, kMaxBody, 16);
  if (!body) return {};
  if (std::string text = TextAt(*body, "error"); !text.empty()) return OneLine(text);
  const Json& errors = Member(*body, "errors");
  return errors.is_array() && !errors.empty() ? OneLine(TextAt(errors.front(), "message")) : std::string();
}

Exclusion ExplainAnswer(const net::HttpResponse& response, const std::string& id, const std::string& revision,
                        const HubOptions& options) {
  static const std::map<std::string, Exclusion (*)(const Refusal&), std::less<>> kByCode = {
      {"GatedRepo", &Gated},
      {"EntryNotFound", &NoFile},
      {"RevisionNotFound", &NoRevision},
      {"RepoNotFound", &NoRepository},
  };
  const Refusal refusal{response, id, revision.empty() ? "its default branch" : revision, options,
                        HubMessage(response)};
  const auto entry = kByCode.find(response.Header("x-error-code").value_or(""));
  return entry == kByCode.end() ? ByStatus(refusal) : entry->second(refusal);
}

bool IsOutage(const Result<net::HttpResponse>& answer) {
  if (!answer) return answer.error().code == ErrorCode::kUnavailable;
  return answer->status == 408 || answer->status == 429 || answer->status >= 500;
}

}  // namespace breakwatch::hub
