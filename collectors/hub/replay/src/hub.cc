#include "hub.h"

#include <array>
#include <cstdio>

#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "digests.h"
#include "file_bytes.h"
#include "listing.h"
#include "repo_api.h"

namespace breakwatch::hub_replay {
namespace {

constexpr std::size_t kMaxSeen = 100'000;

struct Action {
  Answer (*answer)(const RepoRequest&);
  bool needs_bytes;  // needs access to the files of a repository
  const char* method;
};

const std::map<std::string_view, Action>& Actions() {
  static const std::map<std::string_view, Action> kActions = {{"revision", {Info, false, "GET"}},
                                                              {"commits", {Commits, true, "GET"}},
                                                              {"refs", {Refs, false, "GET"}},
                                                              {"tree", {Tree, false, "GET"}},
                                                              {"paths-info", {PathsInfo, false, "POST"}}};
  return kActions;
}

Answer Redirect(int status, const std::string& what, const std::string& location) {
  Answer answer;
  answer.status = status;
  answer.body = what + ". Redirecting to " + location;
  answer.content_type = "text/plain; charset=utf-8";
  return answer.With("Location", location).With("Vary", "Origin, Accept");
}

Answer Renamed(const Request& request, const std::string& prefix, const std::string& id,
               const std::vector<std::string_view>& rest) {
  std::string location = prefix + net::PercentEncode(id, "/");
  for (const std::string_view part : rest) location.append("/").append(part);
  if (!request.RawQuery().empty()) location.append("?").append(request.RawQuery());
  return Redirect(307, "Temporary Redirect", location);
}

std::string Join(const std::vector<std::string_view>& parts, std::size_t from) {
  std::string path;
  for (std::size_t i = from; i < parts.size(); ++i) path += (i > from ? "/" : "") + Decode(parts[i], false);
  return path;
}

std::string ServedEtag(const std::string& path, const std::string& content) {
  // The tag of a large file is not the digest of its content: clients must use X-Linked-ETag.
  return IsLarge(path) ? Sha256Hex(LfsPointer(content)) : GitBlobId(content);
}

bool IsReading(const Request& request) { return request.method == "GET" || request.method == "HEAD"; }

Answer Broken(const Error& error) {
  Answer answer = JsonAnswer({{"error", error.message}});
  answer.status = 500;
  return answer;
}

}  // namespace

Hub::Hub(Recording recording, std::string link_endpoint, const Clock& clock)
    : recording_(std::move(recording)),
      link_endpoint_(std::move(link_endpoint)),
      started_(static_cast<unsigned long long>(
          std::chrono::floor<std::chrono::seconds>(clock.Now()).time_since_epoch().count())),
      limits_(recording_.faults().quotas, clock) {}

Answer Hub::Handle(const Request& request) {
  const RateLimit::Left left = limits_.Take(request.peer, request.Path());
  Answer answer = left.allowed ? Route(request) : Refuse(Refusal::kRateLimit, "", false);
  left.SetHeaders(answer);
  std::array<char, 48> id{};
  std::snprintf(id.data(), id.size(), "Root=1-%08llx-%024llx", started_, static_cast<unsigned long long>(++requests_));
  const auto client_id = request.Header("X-Amzn-Trace-Id");
  answer.With("X-Request-Id", client_id ? std::string(id.data()) + ";" + *client_id : std::string(id.data()));
  return answer;
}

Answer Hub::Route(const Request& request) {
  const std::vector<std::string_view> parts = SplitPath(request.Path());
  const auto starts = [&](std::initializer_list<std::string_view> with) {
    return parts.size() >= with.size() && std::equal(with.begin(), with.end(), parts.begin());
  };
  const bool is_paths_info = request.method == "POST" && starts({"api", "models"});
  if (!IsReading(request) && !is_paths_info) return Refuse(Refusal::kMethod, "", false);
  const Caller caller = CallerOf(request);
  if (caller.bad_token) return Refuse(Refusal::kBadToken, "", false);
  if (parts.empty()) return JsonAnswer({{"recording", recording_.models().size()}});
  if (starts({"api", "models"}) && parts.size() == 2) {
    return is_paths_info ? Refuse(Refusal::kMethod, "", false) : List(request, caller);
  }
  if (starts({"api", "models"})) return RepoApi(request, caller, {parts.begin() + 2, parts.end()});
  if (starts({"api", "resolve-cache", "models"})) return Stored(request, caller, {parts.begin() + 3, parts.end()});
  if (starts({"lfs"})) return Stored(request, caller, {parts.begin() + 1, parts.end()});
  if (starts({"api", "whoami-v2"})) return WhoAmI(caller);
  if (const Named named = NameOf(parts); named.rest.size() >= 3 && named.rest[0] == "resolve") {
    return Resolve(request, caller, named);
  }
  return Refuse(Refusal::kNoRoute, "", !starts({"api"}));
}

Answer Hub::List(const Request& request, const Caller& caller) {
  if (auto fault = Fault(recording_.faults().list, "list")) return *std::move(fault);
  const auto query = ParseListQuery(ParseQuery(request.RawQuery()));
  if (!query) return Refuse(Refusal::kBadRequest, query.error().message, false);
  std::vector<const Json*> visible;
  for (const RecordedModel& model : recording_.models()) {
    if (!model.IsPrivate() || caller.Opens(model.id)) visible.push_back(&model.body);
  }
  const auto page = MakePage(visible, *query, recording_.faults().repeat_across_pages);
  if (!page) return Refuse(Refusal::kBadRequest, page.error().message, false);
  Json list = Json::array();
  for (const Json* body : page->models) list.push_back(Shown(*body, *query));
  Answer answer = JsonAnswer(list);
  if (!page->next_cursor) return answer;
  // The parameters are returned unchanged.
  std::string link = "<" + LinkEndpoint(request) + "/api/models?";
  for (std::string_view rest = request.RawQuery(); !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    if (!part.starts_with("cursor=") && !part.starts_with("skip=")) link.append(part).append("&");
  }
  return answer.With("Link", link + "cursor=" + net::PercentEncode(*page->next_cursor) + ">; rel=\"next\"");
}

Answer Hub::RepoApi(const Request& request, const Caller& caller, const std::vector<std::string_view>& parts) {
  const Named named = NameOf(parts);
  if (const auto now = recording_.RedirectOf(named.id)) return Renamed(request, "/api/models/", *now, named.rest);
  const auto action = named.rest.empty() ? Actions().find("revision") : Actions().find(named.rest[0]);
  if (action == Actions().end()) return Refuse(Refusal::kNoRoute, "", false);
  if (IsReading(request) != (std::string_view(action->second.method) == "GET")) {
    return Refuse(Refusal::kMethod, "", false);
  }
  const RecordedModel* model = recording_.Find(named.id);
  if (const auto denied = Denied(caller, model, action->second.needs_bytes)) return Refuse(*denied, named.id, false);
  RepoRequest asked{recording_, *model, {}, ParseQuery(request.RawQuery()), request.body, LinkEndpoint(request)};
  for (std::size_t i = 1; i < named.rest.size(); ++i) asked.rest.push_back(Decode(named.rest[i], false));
  return action->second.answer(asked);
}

Answer Hub::Resolve(const Request& request, const Caller& caller, const Named& named) {
  if (auto fault = Fault(recording_.faults().resolve, "resolve " + std::string(request.Path())))
    return *std::move(fault);
  if (const auto now = recording_.RedirectOf(named.id)) return Renamed(request, "/", *now, named.rest);
  const RecordedModel* model = recording_.Find(named.id);
  if (const auto denied = Denied(caller, model, true)) return Refuse(*denied, named.id, true);
  const std::string revision = Decode(named.rest[1], false), path = Join(named.rest, 2);
  const auto commit = recording_.Commit(*model, revision);
  if (!commit) return Refuse(Refusal::kRevision, revision, true);
  const auto content = recording_.Read(*model, *commit, path);
  if (!content) return Broken(content.error());
  if (!*content) return Refuse(Refusal::kEntry, "", true).With("X-Repo-Commit", *commit);
  const std::string place = net::PercentEncode(model->id, "/") + "/" + *commit + "/" + net::PercentEncode(path, "/");
  if (IsLarge(path)) {
    const std::string location = "http://" + request.Header("Host").value_or("127.0.0.1") + "/lfs/" + place;
    return Redirect(302, "Found", location)
        .With("X-Repo-Commit", *commit)
        .With("X-Linked-Size", std::to_string((*content)->size()))
        .With("X-Linked-ETag", '"' + Sha256Hex(**content) + '"')
        .With("Accept-Ranges", "bytes");
  }
  const std::string etag = '"' + GitBlobId(**content) + '"';
  const std::string location = "/api/resolve-cache/models/" + place + "?" + net::PercentEncode(request.Path()) +
                               "=&etag=" + net::PercentEncode(etag);
  return Redirect(307, "Temporary Redirect", location).With("X-Repo-Commit", *commit);
}

Answer Hub::Stored(const Request& request, const Caller& caller, std::vector<std::string_view> parts) {
  const Named named = NameOf(parts);
  const RecordedModel* model = recording_.Find(named.id);
  if (const auto denied = Denied(caller, model, true)) return Refuse(*denied, named.id, true);
  if (named.rest.size() < 2) return Refuse(Refusal::kEntry, "", true);
  const std::string path = Join(named.rest, 1);
  const auto commit = recording_.Commit(*model, named.rest[0]);
  if (!commit) return Refuse(Refusal::kRevision, named.rest[0], true);
  auto content = recording_.Read(*model, *commit, path);
  if (!content) return Broken(content.error());
  if (!*content) return Refuse(Refusal::kEntry, "", true).With("X-Repo-Commit", *commit);
  const std::string etag = ServedEtag(path, **content);
  Answer answer = FileBytes(request, *std::move(*content), etag).With("X-Repo-Commit", *commit);
  const std::string source = Text(model->body, "config_source");
  if (path == "config.json" && !source.empty()) answer.With("X-Breakwatch-Config-Source", source);
  return answer;
}

Answer Hub::WhoAmI(const Caller& caller) const {
  if (!caller.has_token) return Refuse(Refusal::kNoRepoAnonymous, "", false);
  const Json token = {{"displayName", "replay"}, {"role", "read"}};
  return JsonAnswer({{"type", "user"},
                     {"name", "replay"},
                     {"fullname", "replay"},
                     {"orgs", Json::array()},
                     {"auth", {{"type", "access_token"}, {"accessToken", token}}}});
}

Hub::Caller Hub::CallerOf(const Request& request) const {
  const auto header = request.Header("Authorization");
  if (!header) return {};
  const Faults& faults = recording_.faults();
  if (faults.any_token) return {.has_token = true};
  constexpr std::string_view kScheme = "Bearer ";
  const auto found =
      header->starts_with(kScheme) ? faults.tokens.find(header->substr(kScheme.size())) : faults.tokens.end();
  if (found == faults.tokens.end()) return {.bad_token = true};
  return {.has_token = true, .opens = &found->second};
}

bool Hub::IsKnown(const std::string& id) const { return recording_.Find(id) || recording_.RedirectOf(id); }

// An id has two parts, and an old one has one. A recorded id takes precedence; then the next part decides.
Hub::Named Hub::NameOf(const std::vector<std::string_view>& parts) const {
  if (parts.empty()) return {};
  const std::string one = Decode(parts[0], false);
  const std::string two = parts.size() > 1 ? one + "/" + Decode(parts[1], false) : one;
  const bool second_is_action = parts.size() > 1 && (parts[1] == "resolve" || Actions().contains(parts[1]));
  const bool is_two = parts.size() > 1 && (IsKnown(two) || (!IsKnown(one) && !second_is_action));
  if (is_two) return {two, {parts.begin() + 2, parts.end()}};
  return {one, {parts.begin() + 1, parts.end()}};
}

Refusal Hub::NoRepo(const Caller& caller) const {
  return caller.has_token ? Refusal::kNoRepo : Refusal::kNoRepoAnonymous;
}

std::optional<Refusal> Hub::Denied(const Caller& caller, const RecordedModel* model, bool bytes) const {
  if (!model || model->missing) return NoRepo(caller);
  if (model->IsPrivate() && !caller.Opens(model->id)) return NoRepo(caller);
  if (!bytes) return std::nullopt;
  if (model->IsGated() && !caller.Opens(model->id))
    return caller.has_token ? Refusal::kGated : Refusal::kGatedAnonymous;
  if (model->IsDisabled()) return Refusal::kDisabled;
  return std::nullopt;
}

std::string Hub::LinkEndpoint(const Request& request) const {
  return link_endpoint_ == "self" ? "http://" + request.Header("Host").value_or("127.0.0.1") : link_endpoint_;
}

std::optional<Answer> Hub::Fault(const std::optional<Failing>& failing, const std::string& key) {
  if (!failing) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    if (seen_.size() >= kMaxSeen) seen_.clear();
    const int before = seen_[key]++;
    if (before < failing->after || before >= failing->after + failing->times) return std::nullopt;
  }
  Answer answer = failing->status == 429 ? Refuse(Refusal::kRateLimit, "", false)
                                         : JsonAnswer({{"error", "fault " + std::to_string(failing->status)}});
  answer.status = failing->status;
  if (failing->retry_after_s) answer.With("Retry-After", std::to_string(*failing->retry_after_s));
  return answer;
}

}  // namespace breakwatch::hub_replay
