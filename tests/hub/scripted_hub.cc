#include "hub/scripted_hub.h"

namespace breakwatch::testing {

ScriptedHub::ScriptedHub() : server_([this](const SeenRequest& request) { return Answer(request); }) {}

void ScriptedHub::On(const std::string& path, Reply reply) {
  const std::lock_guard lock(mutex_);
  replies_[path].push_back(std::move(reply));
}

void ScriptedHub::OnPages(const std::vector<std::string>& pages) {
  for (std::size_t i = 0; i < pages.size(); ++i) {
    Reply reply = Json("[" + pages[i] + "]");
    if (i + 1 < pages.size()) {
      const std::string next = "https://huggingface.co/api/models?sort=downloads&limit=3&cursor=c" + std::to_string(i);
      reply.headers.emplace_back("Link", "<" + next + ">; rel=\"next\"");
    }
    On("/api/models", std::move(reply));
  }
}

void ScriptedHub::OnConfig(const std::string& id, const std::string& sha, const std::string& config) {
  const std::string target = "/api/resolve-cache/models/" + id + "/" + sha + "/config.json";
  On("/" + id + "/resolve/" + sha + "/config.json",
     {307, {{"Location", target + "?etag=x"}, {"X-Repo-Commit", sha}}, "Temporary Redirect"});
  On(target, {200, {{"ETag", "\"" + std::string(40, 'e') + "\""}, {"X-Repo-Commit", sha}}, config});
}

std::vector<SeenRequest> ScriptedHub::Requests(const std::string& prefix) const {
  std::vector<SeenRequest> requests = server_.Requests();
  std::erase_if(requests, [&](const SeenRequest& request) { return !request.target.starts_with(prefix); });
  return requests;
}

hub::HubOptions ScriptedHub::Options() const {
  hub::HubOptions options;
  options.endpoint = server_.Url();
  options.first_backoff = std::chrono::milliseconds(1);
  options.max_backoff = std::chrono::milliseconds(5);
  options.timeout = options.list_timeout = std::chrono::seconds(20);
  return options;
}

Reply ScriptedHub::Answer(const SeenRequest& request) {
  const std::lock_guard lock(mutex_);
  const auto entry = replies_.find(request.Path());
  if (entry == replies_.end()) return Refusal(404, "RepoNotFound", "Repository not found");
  Reply reply = entry->second.front();
  if (entry->second.size() > 1) entry->second.pop_front();
  return reply;
}

std::string Entry(const std::string& id, const std::string& sha, const std::string& more_fields) {
  return R"({"_id":"id-)" + id + R"(","id":")" + id + R"(","sha":")" + sha + "\"," + more_fields + "}";
}

Reply Json(const std::string& body) { return {200, {{"Content-Type", "application/json; charset=utf-8"}}, body}; }

Reply Refusal(int status, const std::string& code, const std::string& message) {
  Reply reply{status, {}, R"({"error":")" + message + "\"}"};
  if (!code.empty()) reply.headers.emplace_back("X-Error-Code", code);
  if (!message.empty()) reply.headers.emplace_back("X-Error-Message", message);
  return reply;
}

Result<RankedList> List(const hub::HubOptions& options, const ListRequest& request, std::stop_token stop) {
  return hub::MakeHubLister(options, RealClock())->List(request, stop, nullptr);
}

Result<RankedList> ListNamed(const hub::HubOptions& options, const std::vector<std::string>& ids) {
  ListRequest request;
  request.ids = ids;
  return List(options, request);
}

}  // namespace breakwatch::testing
