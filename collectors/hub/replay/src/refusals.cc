#include "refusals.h"

#include <map>

#include "breakwatch/core/json_text.h"
#include "json_file.h"

namespace breakwatch::hub_replay {
namespace {

enum class Form { kJson, kText, kByRoute, kHtml };

struct Row {
  int status;
  const char* code;     // X-Error-Code, or null
  const char* message;  // "{}" is the subject; it may occur twice
  Form form;
};

const std::map<Refusal, Row>& Rows() {
  static const std::map<Refusal, Row> kRows = {
      {Refusal::kNoRepoAnonymous, {401, nullptr, "Invalid username or password.", Form::kJson}},
      {Refusal::kNoRepo, {404, "RepoNotFound", "Repository not found", Form::kJson}},
      {Refusal::kBadToken, {401, nullptr, "Invalid credentials in Authorization header", Form::kJson}},
      {Refusal::kGatedAnonymous,
       {401, "GatedRepo",
        "Access to model {} is restricted. You must have access to it and be authenticated to access it. Please log "
        "in.",
        Form::kByRoute}},
      {Refusal::kGated,
       {403, "GatedRepo",
        "Access to model {} is restricted and you are not in the authorized list. Visit https://huggingface.co/{} to "
        "ask "
        "for access.",
        Form::kByRoute}},
      {Refusal::kDisabled, {403, nullptr, "Access to this resource is disabled.", Form::kByRoute}},
      {Refusal::kRevision, {404, "RevisionNotFound", "Invalid rev id: {}", Form::kByRoute}},
      {Refusal::kEntry, {404, "EntryNotFound", "Entry not found", Form::kByRoute}},
      {Refusal::kBadRequest, {400, nullptr, "{}", Form::kJson}},
      {Refusal::kRateLimit, {429, nullptr, "Too Many Requests", Form::kHtml}},
      {Refusal::kMethod, {405, nullptr, "Method Not Allowed", Form::kText}},
      {Refusal::kNoRoute, {404, nullptr, "Not Found", Form::kByRoute}}};
  return kRows;
}

std::string Fill(std::string text, std::string_view subject) {
  for (auto place = text.find("{}"); place != std::string::npos; place = text.find("{}", place + subject.size())) {
    text.replace(place, 2, subject);
  }
  return text;
}

}  // namespace

Answer Refuse(Refusal refusal, std::string_view subject, bool on_file) {
  const Row& row = Rows().at(refusal);
  const std::string message = Fill(row.message, subject);
  Answer answer;
  answer.status = row.status;
  if (row.form == Form::kHtml) {
    answer.body = "<!DOCTYPE html><html><head><title>" + message + "</title></head><body><h1>" +
                  std::to_string(row.status) + "</h1><p>" + message + "</p></body></html>\n";
    answer.content_type = "text/html; charset=utf-8";
  } else if (row.form == Form::kText || (row.form == Form::kByRoute && on_file)) {
    answer.body = message;
    answer.content_type = "text/plain; charset=utf-8";
  } else {
    answer.body = JsonText(Json{{"error", message}});
    answer.content_type = "application/json; charset=utf-8";
  }
  if (row.code) answer.With("X-Error-Code", row.code);
  answer.With("X-Error-Message", message);
  if (row.status == 401) answer.With("WWW-Authenticate", "Bearer realm=\"Authentication required\"");
  if (refusal == Refusal::kMethod) answer.With("Allow", "GET, HEAD");
  return answer;
}

}  // namespace breakwatch::hub_replay
