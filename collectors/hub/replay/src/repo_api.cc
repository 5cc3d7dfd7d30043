#include "repo_api.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "digests.h"
#include "listing.h"
#include "refusals.h"

namespace breakwatch::hub_replay {
namespace {

constexpr std::size_t kTreePage = 1000, kCommitPage = 100, kMaxPaths = 2000;

std::string Value(const Pairs& query, std::string_view name) {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

std::size_t Number(const Pairs& query, std::string_view name, std::size_t otherwise) {
  const std::string text = Value(query, name);
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  return code == std::errc() && end == text.data() + text.size() ? number : otherwise;
}

// Resolves the first part of `rest` to a commit. A revision with slashes is percent-encoded in one part.
std::optional<std::string> CommitOf(const RepoRequest& request) {
  return request.recording.Commit(request.model, request.rest.empty() ? "main" : request.rest[0]);
}

Answer NoRevision(const RepoRequest& request) { return Refuse(Refusal::kRevision, request.rest[0], false); }

std::string Date(const RepoRequest& request) {
  const std::string date = Text(request.model.body, "lastModified");
  return date.empty() ? "1970-01-01T00:00:00.000Z" : date;
}

Json LastCommit(const RepoRequest& request, const std::string& commit) {
  return {{"id", commit}, {"title", "Recorded"}, {"date", Date(request)}};
}

Json FileEntry(const std::string& path, const std::string& content) {
  Json entry = {{"type", "file"}, {"oid", GitBlobId(content)}, {"size", content.size()}, {"path", path}};
  if (IsLarge(path)) {
    const std::string pointer = LfsPointer(content);
    entry["oid"] = GitBlobId(pointer);
    entry["lfs"] = {{"oid", Sha256Hex(content)}, {"size", content.size()}, {"pointerSize", pointer.size()}};
  }
  return entry;
}

Json FolderEntry(const std::string& path) {
  return {{"type", "directory"}, {"oid", Sha1Hex(path)}, {"size", 0}, {"path", path}};
}

// The files and their folders, by path.
std::set<std::string> Paths(const std::vector<std::string>& files) {
  std::set<std::string> paths;
  for (const std::string& file : files) {
    for (auto mark = file.find('/'); mark != std::string::npos; mark = file.find('/', mark + 1)) {
      paths.insert(file.substr(0, mark));
    }
    paths.insert(file);
  }
  return paths;
}

Result<Json> Entry(const RepoRequest& request, const std::string& commit, const std::string& path) {
  const auto content = request.recording.Read(request.model, commit, path);
  if (!content) return content.error();
  Json entry = *content ? FileEntry(path, **content) : FolderEntry(path);
  if (IsTrue(Value(request.query, "expand"))) entry["lastCommit"] = LastCommit(request, commit);
  return entry;
}

Answer Broken(const Error& error) {
  Answer answer = JsonAnswer({{"error", error.message}});
  answer.status = 500;
  return answer;
}

void LinkNext(const RepoRequest& request, const std::string& path_and_query, Answer& answer) {
  answer.With("Link",
              "<" + request.link_endpoint + "/api/models/" + request.model.id + path_and_query + ">; rel=\"next\"");
}

Json BlobSibling(const std::string& path, const std::string& content) {
  const Json entry = FileEntry(path, content);
  Json sibling = {{"rfilename", path}, {"size", entry["size"]}, {"blobId", entry["oid"]}};
  if (entry.contains("lfs")) {
    sibling["lfs"] = {
        {"sha256", entry["lfs"]["oid"]}, {"size", entry["lfs"]["size"]}, {"pointerSize", entry["lfs"]["pointerSize"]}};
  }
  return sibling;
}

}  // namespace

Answer JsonAnswer(const Json& value) {
  Answer answer;
  answer.body = JsonText(value);
  answer.content_type = "application/json; charset=utf-8";
  return answer;
}

bool IsLarge(std::string_view path) {
  constexpr std::array<std::string_view, 8> kEndings = {".safetensors", ".bin",     ".h5", ".onnx",
                                                        ".gguf",        ".msgpack", ".pt", ".ot"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return path.ends_with(ending); });
}

Answer Info(const RepoRequest& request) {
  const auto commit = CommitOf(request);
  if (!commit) return NoRevision(request);
  const std::vector<std::string> expand = ExpandOf(request.query);
  if (auto known = CheckExpand(expand); !known) return Refuse(Refusal::kBadRequest, known.error().message, false);
  Json body = request.model.body;
  body["modelId"] = request.model.id;
  body["sha"] = *commit;
  const bool blobs = IsTrue(Value(request.query, "blobs"));
  if (blobs || !body.contains("siblings")) {
    Json siblings = Json::array();
    for (const std::string& path : request.recording.Files(request.model, *commit)) {
      const auto content = request.recording.Read(request.model, *commit, path);
      if (!content) return Broken(content.error());
      siblings.push_back(blobs && *content ? BlobSibling(path, **content) : Json{{"rfilename", path}});
    }
    body["siblings"] = std::move(siblings);
  }
  return JsonAnswer(expand.empty() ? body : Expanded(body, expand));
}

Answer Commits(const RepoRequest& request) {
  const auto head = CommitOf(request);
  if (!head) return NoRevision(request);
  std::vector<std::string> commits = request.recording.Commits(request.model);
  if (*head != request.model.sha) commits = {*head};
  const std::size_t limit = std::clamp<std::size_t>(Number(request.query, "limit", kCommitPage), 1, kTreePage);
  const std::size_t page = std::min<std::size_t>(Number(request.query, "p", 0), commits.size());
  Json list = Json::array();
  for (std::size_t i = page * limit; i < std::min(commits.size(), (page + 1) * limit); ++i) {
    Json commit = LastCommit(request, commits[i]);
    commit["message"] = "";
    commit["authors"] = Json::array();
    if (Value(request.query, "expand[]") == "formatted") commit["formatted"] = {{"title", "Recorded"}, {"message", ""}};
    list.push_back(std::move(commit));
  }
  Answer answer = JsonAnswer(list);
  answer.With("X-Total-Count", std::to_string(commits.size()));
  if ((page + 1) * limit < commits.size()) {
    LinkNext(request,
             "/commits/" + net::PercentEncode(request.rest.empty() ? "main" : request.rest[0]) +
                 "?p=" + std::to_string(page + 1) + "&limit=" + std::to_string(limit),
             answer);
  }
  return answer;
}

Answer Refs(const RepoRequest& request) {
  const Json main = {{"name", "main"}, {"ref", "refs/heads/main"}, {"targetCommit", request.model.sha}};
  Json refs = {{"branches", Json::array({main})}, {"converts", Json::array()}, {"tags", Json::array()}};
  if (IsTrue(Value(request.query, "include_prs"))) refs["pullRequests"] = Json::array();
  return JsonAnswer(refs);
}

Answer Tree(const RepoRequest& request) {
  const auto commit = CommitOf(request);
  if (!commit) return NoRevision(request);
  std::string folder;
  for (std::size_t i = 1; i < request.rest.size(); ++i) folder += request.rest[i] + "/";
  const bool recursive = IsTrue(Value(request.query, "recursive"));
  const std::string after = FromBase64(Value(request.query, "cursor")).value_or("");
  const std::size_t limit = std::clamp<std::size_t>(Number(request.query, "limit", kTreePage), 1, kTreePage);
  Json list = Json::array();
  bool found = folder.empty(), more = false;
  std::string last;
  for (const std::string& path : Paths(request.recording.Files(request.model, *commit))) {
    if (!path.starts_with(folder)) continue;
    found = true;
    if (path <= after || (!recursive && path.find('/', folder.size()) != std::string::npos)) continue;
    more = list.size() == limit;
    if (more) break;
    auto entry = Entry(request, *commit, path);
    if (!entry) return Broken(entry.error());
    list.push_back(std::move(*entry));
    last = path;
  }
  if (!found) return Refuse(Refusal::kEntry, "", false);
  Answer answer = JsonAnswer(list);
  answer.With("X-Repo-Commit", *commit);
  if (more) {
    std::string next = "/tree/" + *commit + "/" + net::PercentEncode(folder, "/") +
                       "?cursor=" + net::PercentEncode(Base64(last)) + "&limit=" + std::to_string(limit);
    for (const char* name : {"recursive", "expand"}) {
      if (IsTrue(Value(request.query, name))) next += std::string("&") + name + "=true";
    }
    LinkNext(request, next, answer);
  }
  return answer;
}

Answer PathsInfo(const RepoRequest& request) {
  const auto commit = CommitOf(request);
  if (!commit) return NoRevision(request);
  RepoRequest asked = request;
  asked.query = ParseQuery(request.body);
  const std::set<std::string> known = Paths(request.recording.Files(request.model, *commit));
  Json list = Json::array();
  for (const auto& [name, path] : asked.query) {
    if (name != "paths" || list.size() == kMaxPaths || !known.contains(path)) continue;
    auto entry = Entry(asked, *commit, path);
    if (!entry) return Broken(entry.error());
    list.push_back(std::move(*entry));
  }
  return JsonAnswer(list);
}

}  // namespace breakwatch::hub_replay
