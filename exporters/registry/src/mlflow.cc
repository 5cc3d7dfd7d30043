// The model registry of an MLflow server. The files are artifacts of a run, uploaded through the server's own proxy.
// A model version, which refers to the run, is made after they were read back, and then an alias for the target.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "json_at.h"
#include "registries.h"
#include "registry_http.h"

namespace breakwatch::exporters {
namespace {

using nlohmann::json;

constexpr const char* kExperiment = "breakwatch";
constexpr const char* kProxy = "mlflow-artifacts:/";
constexpr const char* kApi = "/api/2.0/mlflow/";
constexpr const char* kArtifacts = "/api/2.0/mlflow-artifacts/artifacts";
constexpr const char* kPackageId = "breakwatch.package_id";
// MLflow's proxy takes a file in one request.
constexpr std::int64_t kMaxFileBytes = 2LL << 30;
constexpr std::size_t kMaxFiles = 128;

json Member(const json& object, const char* key) {
  return object.is_object() && object.contains(key) ? object[key] : json();
}

// Names of models cannot contain slashes.
std::string ModelName(const std::string& model) {
  std::string name;
  for (const char c : model) name += c == '/' ? "--" : c == ':' ? "-" : std::string(1, c);
  return name;
}

// MLflow reads a list of tags, not an object.
json Tags(const std::map<std::string, std::string>& tags) {
  json list = json::array();
  for (const auto& [key, value] : tags) list.push_back({{"key", key}, {"value", value}});
  return list;
}

std::string TagOf(const json& owner, const std::string& key) {
  for (const json& tag : Member(owner, "tags")) {
    if (TextOf(tag, "key") == key) return TextOf(tag, "value");
  }
  return "";
}

class MlflowRegistry final : public ArtifactRegistry {
 public:
  MlflowRegistry(const std::string& url, std::string id, RegistryOptions options, const Clock& clock)
      : place_("mlflow:" + url),
        prefix_(net::ParseUrl(url)->path),
        id_(std::move(id)),
        http_(std::move(options), net::ParseUrl(url)->Origin()),
        clock_(clock) {
    while (prefix_.ends_with('/')) prefix_.pop_back();
  }

  std::string Place() const override { return place_; }

  Result<std::string> Publish(const Package& package, const std::vector<PackageFile>& files) override {
    for (const PackageFile& file : files) {
      if (file.bytes > kMaxFileBytes)
        return Error{ErrorCode::kInvalid, file.path + " is larger than the 2 GiB that MLflow's proxy takes at once"};
    }
    const std::string name = ModelName(package.manifest.model);
    auto version = FindVersion({.package_id = package.id, .model = package.manifest.model, .target = {}});
    if (!version && version.error().code != ErrorCode::kNotFound) return version.error();
    const auto folder = version ? FolderOf(*version) : RunFolder(package);
    if (!folder) return folder.error();
    // Files of an existing version are compared too: what cannot be read back is not published.
    for (const PackageFile& file : files) {
      if (auto sent = SendFile(*folder, package.folder, file); !sent) return sent.error();
    }
    if (!version) version = MakeVersion(name, package);
    if (!version) return version.error();
    const std::string number = TextOf(*version, "version");
    const auto alias =
        Post("registered-models/alias", {{"name", name}, {"alias", package.manifest.target}, {"version", number}});
    if (!alias) return alias.error();
    return ReferenceOf(package.id);
  }

  Result<void> Pull(const PackageQuery& query, const std::string& folder) override {
    PackageQuery wanted = query;
    if (!id_.empty()) wanted.package_id = id_;
    const auto version = FindVersion(wanted);
    if (!version) return version.error();
    const auto from = FolderOf(*version);
    if (!from) return from.error();
    const auto files = FilesOf(*from);
    if (!files) return files.error();
    for (const auto& [name, bytes] : *files) {
      if (auto fetched = http_.Download(ArtifactUrl(*from, name), folder + "/" + name, bytes); !fetched) return fetched;
    }
    return {};
  }

  Result<std::vector<PublishedPackage>> List() override {
    const auto versions = Versions("");
    if (!versions) return versions.error();
    std::vector<PublishedPackage> packages;
    for (const json& version : *versions) packages.push_back(PackageOf(version));
    return packages;
  }

 private:
  std::string ReferenceOf(const std::string& id) const { return place_ + "@" + std::string(kDigestPrefix) + id; }
  std::string Cannot(const std::string& what) const { return "cannot " + what + " " + place_; }
  std::string ArtifactUrl(const std::string& folder, const std::string& name) const {
    return prefix_ + kArtifacts + "/" + net::PercentEncode(folder, "/") + "/" + net::PercentEncode(name);
  }

  Result<json> Answer(Result<net::HttpResponse> answer, const std::string& method) const {
    if (!answer) return answer.error();
    if (answer->status != 200) return Unexpected(*answer, Cannot(method + " of"));
    json body = json::parse(answer->body, nullptr, /*allow_exceptions=*/false);
    if (!body.is_object())
      return Error{ErrorCode::kInvalid, place_ + " is no MLflow server: " + ShortLine(answer->body, 100)};
    return body;
  }
  Result<json> Post(const std::string& method, const json& body) {
    net::HttpRequest request;
    request.method = "POST", request.url = prefix_ + kApi + method;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = JsonText(body);
    return Answer(http_.Send(request), method);
  }
  Result<json> Ask(const std::string& method, const std::string& query) {
    return Answer(http_.Get(prefix_ + kApi + method + "?" + query), method);
  }

  PublishedPackage PackageOf(const json& version) const {
    PublishedPackage package{TagOf(version, kPackageId),
                             TagOf(version, "breakwatch.model"),
                             TagOf(version, "breakwatch.revision"),
                             TagOf(version, "breakwatch.target"),
                             "",
                             ""};
    package.reference = ReferenceOf(package.package_id);
    const json created = Member(version, "creation_timestamp");
    if (created.is_number_integer())
      package.published_at = FormatTime(SystemTime{std::chrono::milliseconds(created.get<std::int64_t>())});
    return package;
  }

  // Those with a tag of ours, the newest first. `name`: of the model; empty: any.
  Result<std::vector<json>> Versions(const std::string& name) {
    std::string query = "max_results=" + std::to_string(kMaxListed);
    if (!name.empty()) query += "&filter=" + net::PercentEncode("name='" + name + "'");
    auto answer = Ask("model-versions/search", query);
    if (!answer) return answer.error();
    std::vector<json> versions;
    for (json& version : (*answer)["model_versions"]) {
      if (IsSha256(TagOf(version, kPackageId))) versions.push_back(std::move(version));
    }
    const auto created = [](const json& v) {
      const json at = Member(v, "creation_timestamp");
      return at.is_number_integer() ? at.get<std::int64_t>() : 0;
    };
    std::stable_sort(versions.begin(), versions.end(),
                     [&](const json& a, const json& b) { return created(a) > created(b); });
    return versions;
  }

  Result<json> FindVersion(const PackageQuery& query) {
    auto versions = Versions(query.model.empty() ? "" : ModelName(query.model));
    if (!versions) return versions.error();
    for (json& version : *versions) {
      if (Matches(PackageOf(version), query)) return std::move(version);
    }
    return NoSuchPackage(place_);
  }

  // The folder below the proxy where a version's or run's files are.
  Result<std::string> ProxyPath(const std::string& uri) const {
    if (uri.starts_with(kProxy) && uri.find("..") == std::string::npos) {
      std::string path = uri.substr(std::string_view(kProxy).size());
      while (path.starts_with('/')) path.erase(0, 1);
      return path;
    }
    return Error{ErrorCode::kInvalid,
                 place_ + " keeps artifacts in " + ShortLine(uri, 200) +
                     "; start it with --serve-artifacts and --default-artifact-root mlflow-artifacts:/"};
  }
  Result<std::string> FolderOf(const json& version) { return ProxyPath(TextOf(version, "source")); }

  Result<std::string> ExperimentId() {
    auto made = Post("experiments/create", {{"name", kExperiment}});
    if (made) return TextOf(*made, "experiment_id");
    auto found = Ask("experiments/get-by-name", std::string("experiment_name=") + kExperiment);
    // Its error says more if there is no such experiment either.
    if (!found) return made.error();
    return TextOf(Member(*found, "experiment"), "experiment_id");
  }

  // The run of an earlier attempt, or a new one.
  Result<std::string> RunFolder(const Package& package) {
    const auto experiment = ExperimentId();
    if (!experiment) return experiment.error();
    auto found = Post("runs/search", {{"experiment_ids", {*experiment}},
                                      {"max_results", 1},
                                      {"filter", std::string("tags.`") + kPackageId + "` = '" + package.id + "'"}});
    if (!found) return found.error();
    json run = Member(*found, "runs");
    run = run.is_array() && !run.empty() ? run[0] : json();
    if (run.is_null()) {
      const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now().time_since_epoch()).count();
      auto made = Post("runs/create", {{"experiment_id", *experiment},
                                       {"start_time", ms},
                                       {"run_name", package.manifest.model + " " + package.manifest.target},
                                       {"tags", Tags({{kPackageId, package.id}})}});
      if (!made) return made.error();
      run = Member(*made, "run");
    }
    run_id_ = TextOf(Member(run, "info"), "run_id");
    source_ = TextOf(Member(run, "info"), "artifact_uri");
    return ProxyPath(source_);
  }

  Result<json> MakeVersion(const std::string& name, const Package& package) {
    const Manifest& m = package.manifest;
    if (auto ended = Post("runs/update", {{"run_id", run_id_}, {"status", "FINISHED"}}); !ended) return ended.error();
    // An error is that the model exists; any other one is also that of the version.
    (void)Post("registered-models/create", {{"name", name}});
    auto made = Post("model-versions/create", {{"name", name},
                                               {"source", source_},
                                               {"run_id", run_id_},
                                               {"tags", Tags({{kPackageId, package.id},
                                                              {"breakwatch.model", m.model},
                                                              {"breakwatch.revision", m.revision},
                                                              {"breakwatch.target", m.target},
                                                              {"breakwatch.torch", m.torch}})}});
    if (!made) return made.error();
    return Member(*made, "model_version");
  }

  Result<std::map<std::string, std::int64_t>> FilesOf(const std::string& folder) {
    auto answer = Answer(http_.Get(prefix_ + kArtifacts + "?path=" + net::PercentEncode(folder)), "artifacts");
    if (!answer) return answer.error();
    std::map<std::string, std::int64_t> files;
    for (const json& file : (*answer)["files"]) {
      const std::string name = TextOf(file, "path");
      const json size = Member(file, "file_size");
      if (!IsPlainName(name) || !size.is_number_integer() || files.size() == kMaxFiles)
        return Error{ErrorCode::kInvalid, place_ + " lists an invalid file " + ShortLine(name, 100)};
      files[name] = size.get<std::int64_t>();
    }
    return files;
  }

  // Uploads a file unless it is there, and reads it back.
  Result<void> SendFile(const std::string& folder, const std::string& from, const PackageFile& file) {
    const std::string back = from + "/../published-" + file.path;
    const auto is_there = [&] {
      auto fetched = http_.Download(ArtifactUrl(folder, file.path), back, file.bytes);
      auto same = fetched ? CheckFetched(back, file, place_) : fetched;
      RemoveAll(back);
      return same;
    };
    if (is_there()) return {};
    net::HttpRequest put;
    put.method = "PUT", put.url = ArtifactUrl(folder, file.path);
    put.headers = {{"Content-Type", "application/octet-stream"}};
    put.body_file = from + "/" + file.path;
    const auto answer = http_.Send(put);
    if (!answer) return answer.error();
    if (answer->status != 200) return Unexpected(*answer, Cannot("upload " + file.path + " to"));
    return is_there();
  }

  const std::string place_;
  std::string prefix_;  // of the path of the URL
  const std::string id_;
  RegistryHttp http_;
  const Clock& clock_;
  std::string run_id_, source_;  // of the run that a publish uses
};

}  // namespace

Result<std::unique_ptr<ArtifactRegistry>> MakeMlflowRegistry(const std::string& url, const std::string& id,
                                                             RegistryOptions options, const Clock& clock) {
  const auto parsed = net::ParseUrl(url);
  if (!parsed || parsed->has_user || !parsed->query.empty())
    return Error{ErrorCode::kUsage,
                 "\"" + url + "\" is no URL of an MLflow server, as in mlflow:http://mlflow.example:5000"};
  return std::unique_ptr<ArtifactRegistry>(std::make_unique<MlflowRegistry>(url, id, std::move(options), clock));
}

Result<std::unique_ptr<ArtifactRegistry>> MakeRegistry(const std::string& name, RegistryOptions options,
                                                       const Clock& clock) {
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon), rest = colon == std::string::npos ? "" : name.substr(colon + 1);
  const std::string mark = "@" + std::string(kDigestPrefix);
  const std::size_t at = rest.rfind(mark);
  const std::string place = rest.substr(0, at), id = at == std::string::npos ? "" : rest.substr(at + mark.size());
  if (id.find_first_not_of("0123456789abcdef") != std::string::npos || (at != std::string::npos && id.empty()))
    return Error{ErrorCode::kUsage, "\"" + name + "\": expected a package id after @sha256:"};
  if (kind == "dir") return MakeDirectoryRegistry(place, id, clock);
  if (kind == "mlflow") return MakeMlflowRegistry(place, id, std::move(options), clock);
  if (kind == "oci") return MakeOciRegistry(rest, std::move(options));
  return Error{ErrorCode::kUsage,
               "\"" + name + "\" is no registry; expected dir:PATH, mlflow:URL or oci:HOST/REPOSITORY[:TAG]"};
}

}  // namespace breakwatch::exporters
