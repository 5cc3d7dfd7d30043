#include "breakwatch/hub_replay/record.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/url.h"
#include "fetcher.h"
#include "http_values.h"
#include "json_file.h"
#include "paths.h"
#include "recording_writer.h"

namespace breakwatch::hub_replay {
namespace {

constexpr std::size_t kMaxPage = 1000, kMaxPageBytes = 256u << 20;
constexpr int kMaxPages = 10'000;
constexpr std::array<const char*, 17> kFields = {
    "author",       "config",       "createdAt", "disabled",         "downloads",    "gated",
    "lastModified", "library_name", "likes",     "pipeline_tag",     "private",      "safetensors",
    "sha",          "siblings",     "tags",      "transformersInfo", "trendingScore"};

// The query of the next page in the Link header. Its host is the Hub's own, even behind a mirror.
std::string NextQuery(const net::HttpResponse& answer) {
  const std::string link = answer.Header("link").value_or("");
  const auto rel = link.find("rel=\"next\"");
  if (rel == std::string::npos) return {};
  const auto end = link.rfind('>', rel), begin = link.rfind('<', rel);
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  const std::string url = link.substr(begin + 1, end - begin - 1);
  const auto mark = url.find('?');
  return mark == std::string::npos ? std::string() : url.substr(mark);
}

// The id in "id" or "id@revision".
std::string IdOf(const std::string& named) { return named.substr(0, named.find('@')); }

Error Refused(const std::string& url, const net::HttpResponse& answer) {
  const std::string why = answer.Header("x-error-message").value_or("");
  return {ErrorCode::kUnavailable,
          url + ": HTTP " + std::to_string(answer.status) + (why.empty() ? "" : ": " + ToUtf8(why))};
}

class Recorder {
 public:
  Recorder(const RecordOptions& options, net::HttpPool& pool, RecordingWriter& writer, const RecordProgress& progress,
           const Clock& clock)
      : options_(options), pool_(pool), fetcher_(options, pool, clock), writer_(writer), progress_(progress) {}

  Result<void> Models(std::stop_token stop) {
    if (options_.ids.empty()) {
      std::string query =
          "?sort=" + net::PercentEncode(options_.sort) + "&limit=" + std::to_string(std::min(options_.top, kMaxPage));
      for (const auto& [name, value] : options_.query)
        query += "&" + net::PercentEncode(name) + "=" + net::PercentEncode(value);
      for (const char* field : kFields) query += std::string("&expand=") + field;
      GetPage(query);
    }
    for (const std::string& id : options_.ids) GetModel(id);
    if (auto ran = pool_.Run(stop); !ran) return ran;
    return failed_ ? Result<void>(*failed_) : Result<void>();
  }

  Result<void> Files(std::stop_token stop) {
    to_fetch_ = models_.size() * options_.files.size();
    for (Json& model : models_) {
      const bool pipeline = options_.pipelines && Text(model, "library_name") == "diffusers";
      if (pipeline) ++to_fetch_, GetFile(model, "model_index.json");
      for (const std::string& path : options_.files) GetFile(model, path, pipeline);
    }
    if (auto ran = pool_.Run(stop); !ran) return ran;
    return failed_ ? Result<void>(*failed_) : Result<void>();
  }

  Result<RecordSummary> Finish(const std::string& recorded_at) {
    const Json about = {
        {"format", 1}, {"recorded_at", recorded_at}, {"endpoint", fetcher_.endpoint()}, {"note", options_.note}};
    if (auto committed = writer_.Commit(about, models_, redirects_); !committed) return committed.error();
    summary_.models = models_.size();
    return summary_;
  }

 private:
  void Fail(Error error) {
    if (!failed_) failed_ = std::move(error);
  }

  // The JSON body of an answer. nullopt after a failure, which is recorded.
  std::optional<Json> Body(const std::string& path, const Result<net::HttpResponse>& answer) {
    const std::string url = fetcher_.endpoint() + path;
    if (!answer) return Fail(answer.error()), std::nullopt;
    if (answer->status != 200) return Fail(Refused(url, *answer)), std::nullopt;
    auto body = ParseChecked(answer->body, kMaxPageBytes);
    if (!body) return Fail(body.error().Within(url)), std::nullopt;
    return *std::move(body);
  }

  void GetPage(const std::string& query) {
    fetcher_.Get("/api/models" + query, kMaxPageBytes, [this, query](const Result<net::HttpResponse>& answer) {
      const auto list = Body("/api/models", answer);
      if (!list) return;
      if (!list->is_array()) return Fail({ErrorCode::kInvalid, fetcher_.endpoint() + "/api/models: not a list"});
      for (const Json& body : *list) Add(body);
      const std::string next = NextQuery(*answer);
      if (models_.size() < options_.top && !next.empty() && next != query && ++pages_ < kMaxPages) GetPage(next);
    });
  }

  void GetModel(const std::string& named) {
    const std::string id = IdOf(named);
    std::string path = "/api/models/" + net::PercentEncode(id, "/");
    if (id.size() < named.size()) path += "/revision/" + net::PercentEncode(named.substr(id.size() + 1));
    fetcher_.Get(path, kMaxPageBytes, [this, id, path](const Result<net::HttpResponse>& answer) {
      if (answer && (answer->status == 401 || answer->status == 403 || answer->status == 404)) {
        summary_.left_out.push_back(id + ": " + Refused(fetcher_.endpoint() + path, *answer).message);
        return;
      }
      const auto body = Body(path, answer);
      if (!body) return;
      if (body->is_object() && Text(*body, "id") != id && Add(*body))
        redirects_[id] = Text(*body, "id");
      else
        Add(*body);
    });
  }

  // Adds a model once, by _id, if it can be replayed.
  bool Add(const Json& body) {
    if (!body.is_object() || !IsModelId(Text(body, "id")) || !IsCommit(Text(body, "sha")) ||
        Text(body, "_id").empty()) {
      summary_.left_out.push_back((body.is_object() ? Text(body, "id") : "an entry") + ": no id, _id or sha");
      return false;
    }
    if (JsonText(body).size() > kMaxLine) {
      summary_.left_out.push_back(Text(body, "id") + ": its entry is larger than 1 MiB");
      return false;
    }
    if (models_.size() >= std::max(options_.top, options_.ids.size())) return false;
    if (!seen_.insert(Text(body, "_id")).second || !seen_.insert(Text(body, "id")).second) return true;
    models_.push_back(body);
    models_.back()["modelId"] = body["id"];
    return true;
  }

  // Each component of a pipeline may have its own configuration.
  void GetComponents(Json& model, const std::string& model_index) {
    const auto index = ParseChecked(model_index, options_.max_file_bytes);
    if (!index || !index->is_object()) return;
    for (const auto& [name, entry] : index->items()) {
      const std::string path = name + "/config.json";
      const bool named = entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string();
      if (!named || name.find('/') != std::string::npos || !IsPlainPath(path)) continue;
      ++to_fetch_;
      GetFile(model, path, /*may_lack=*/true);
    }
  }

  // `may_lack`: a missing file is not reported.
  void GetFile(Json& model, const std::string& path, bool may_lack = false) {
    const std::string id = Text(model, "id"), sha = Text(model, "sha");
    const std::string url = "/" + net::PercentEncode(id, "/") + "/resolve/" + sha + "/" + net::PercentEncode(path, "/");
    fetcher_.Get(url, options_.max_file_bytes,
                 [this, id, sha, path, url, may_lack, &model](const Result<net::HttpResponse>& answer) {
                   if (progress_) progress_(++fetched_, to_fetch_);
                   if (!answer && answer.error().code == ErrorCode::kInterrupted) return;
                   if (may_lack && answer && answer->status == 404) return;
                   if (!answer || answer->status != 200) {
                     const Error why = answer ? Refused(fetcher_.endpoint() + url, *answer) : answer.error();
                     summary_.left_out.push_back(id + ": " + path + ": " + why.message);
                     return;
                   }
                   // A recording of a replay keeps the config source of the original recording.
                   if (const auto source = answer->Header("x-breakwatch-config-source"))
                     model["config_source"] = ToUtf8(*source);
                   if (auto wrote = writer_.WriteFile(id, sha, path, answer->body); !wrote) return Fail(wrote.error());
                   ++summary_.files;
                   if (path == "model_index.json") GetComponents(model, answer->body);
                 });
  }

  const RecordOptions& options_;
  net::HttpPool& pool_;
  Fetcher fetcher_;
  RecordingWriter& writer_;
  const RecordProgress& progress_;
  std::vector<Json> models_;
  std::map<std::string, std::string> redirects_;
  std::set<std::string> seen_;
  std::optional<Error> failed_;
  RecordSummary summary_;
  std::size_t fetched_ = 0, to_fetch_ = 0;
  int pages_ = 0;
};

Result<void> Check(const RecordOptions& options) {
  for (const std::string& path : options.files) {
    if (!IsPlainPath(path)) return Error{ErrorCode::kUsage, path + ": not a path inside a repository"};
  }
  for (const std::string& id : options.ids) {
    if (!IsModelId(IdOf(id))) return Error{ErrorCode::kUsage, id + ": not a model id"};
  }
  // recording.json must not contain credentials, and it would contain this address.
  if (options.endpoint.find('@') != std::string::npos) {
    return Error{ErrorCode::kUsage, "the endpoint must not hold a user or password"};
  }
  return {};
}

}  // namespace

RecordOptions RecordOptionsOf(const ListRequest& request) {
  RecordOptions options;
  options.sort = request.sort;
  options.top = static_cast<std::size_t>(std::max(0, request.top));
  options.ids = request.ids;
  for (const std::string& filter : request.filters) options.query.emplace_back("filter", filter);
  const std::pair<const char*, const std::string&> texts[] = {{"author", request.author},
                                                              {"search", request.search},
                                                              {"pipeline_tag", request.task},
                                                              {"filter", request.library}};
  for (const auto& [name, value] : texts) {
    if (!value.empty()) options.query.emplace_back(name, value);
  }
  if (request.gated) options.query.emplace_back("gated", *request.gated ? "true" : "false");
  std::string range;
  if (request.min_params) range = "min:" + std::to_string(*request.min_params);
  if (request.max_params) range += (range.empty() ? "max:" : ",max:") + std::to_string(*request.max_params);
  if (!range.empty()) options.query.emplace_back("num_parameters", range);
  return options;
}

Result<RecordSummary> Record(const RecordOptions& options, net::HttpPool& pool, const std::string& dir,
                             std::stop_token stop, const RecordProgress& progress, const Clock& clock) {
  if (auto checked = Check(options); !checked) return checked.error();
  auto writer = RecordingWriter::Create(dir);
  if (!writer) return writer.error();
  Recorder recorder(options, pool, *writer, progress, clock);
  if (auto listed = recorder.Models(stop); !listed) return listed.error();
  if (auto fetched = recorder.Files(stop); !fetched) return fetched.error();
  return recorder.Finish(FormatTime(clock.Now()));
}

}  // namespace breakwatch::hub_replay
