#include <algorithm>
#include <filesystem>

#include "breakwatch/core/text.h"
#include "breakwatch/hub/hub_lister.h"
#include "bundle.h"
#include "config_check.h"
#include "exclusions.h"
#include "files.h"
#include "listed_model.h"
#include "model_id.h"
#include "ranking.h"

namespace breakwatch::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxListBytes = 1u << 30;
constexpr std::size_t kMaxLineBytes = 16u << 20;
constexpr int kMaxDepth = 64;

// Both a missing and an invalid recording are a wrong setting to the caller.
Error Damaged(const Error& error) {
  return {ErrorCode::kConfig, "hub.snapshot_dir: not a recording of a Hub: " + error.message};
}

Result<void> CheckRecording(const fs::path& directory) {
  const fs::path path = directory / "recording.json";
  const Result<std::string> text = ReadFile(path, 1u << 20);
  if (!text) return Damaged(text.error());
  const Result<Json> about = ParseJson(*text, 1u << 20, kMaxDepth);
  if (!about) return Damaged(about.error().Within(path.string()));
  const auto format = IntegerAt(*about, "format");
  if (format == 1) return {};
  return Damaged({ErrorCode::kConfig, path.string() + ": format " + (format ? std::to_string(*format) : "(none)") +
                                          " is unknown, expected 1"});
}

std::string FolderOf(std::string id) {
  const std::size_t slash = id.find('/');
  if (slash != std::string::npos) id.replace(slash, 1, "--");
  return id;
}

class SnapshotLister : public ModelLister {
 public:
  SnapshotLister(std::string directory, HubOptions options)
      : directory_(std::move(directory)), options_(std::move(options)) {}

  Result<RankedList> List(const ListRequest& request, std::stop_token stop, const Progress& progress) override {
    const Result<FamilyTable> families = FamilyTable::Load(options_.families_file);
    if (!families) return families.error();
    const Result<std::string> sort_key = SortKey(request.sort);
    if (!sort_key) return sort_key.error();
    if (Result<void> good = CheckRecording(directory_); !good) return good.error();
    RankedList list{
        .source = "snapshot " + directory_.string(), .ranked = request.ids.empty(), .models = {}, .warnings = {}};
    Result<std::vector<ListedModel>> models = ReadModels(*families, list.warnings);
    if (!models) return models.error();
    if (const int again = RemoveDuplicates(*models); again > 0) {
      list.warnings.push_back("dropped, because recorded twice: " + Counted(again, "model"));
    }
    std::vector<RankedModel> chosen =
        list.ranked ? TopModels(*std::move(models), request, *sort_key) : NamedModels(*models, request.ids);
    for (RankedModel& model : chosen) {
      if (stop.stop_requested()) return Error{ErrorCode::kInterrupted, "interrupted while reading the recording"};
      if (!model.excluded) Resolve(model, request, *families);
      list.models.push_back(std::move(model));
      if (progress) progress(static_cast<int>(list.models.size()), static_cast<int>(chosen.size()));
    }
    return list;
  }

 private:
  Result<std::vector<ListedModel>> ReadModels(const FamilyTable& families, std::vector<std::string>& warnings) const {
    const fs::path path = directory_ / "models.jsonl";
    const Result<std::string> read = ReadFile(path, kMaxListBytes);
    if (!read) return Damaged(read.error());
    std::vector<ListedModel> models;
    std::string_view text = *read;
    for (int number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (Trim(line).empty()) continue;
      const Result<Json> body = ParseJson(line, kMaxLineBytes, kMaxDepth);
      Result<ListedModel> model = body ? ReadListedModel(*body, families) : Result<ListedModel>(body.error());
      if (!model) {
        warnings.push_back(path.string() + ": line " + std::to_string(number) + ": " + model.error().message);
        if (constexpr std::size_t kMaxBad = 20; warnings.size() > kMaxBad) {
          return Damaged({ErrorCode::kConfig, path.string() + ": too many bad lines, the last " +
                                                  std::to_string(number) + ": " + model.error().message});
        }
        continue;
      }
      models.push_back(*std::move(model));
    }
    return models;
  }

  static std::vector<RankedModel> TopModels(std::vector<ListedModel> models, const ListRequest& request,
                                            const std::string& sort_key) {
    std::erase_if(models, [&](const ListedModel& model) { return !Matches(model, request); });
    SortModels(models, sort_key);
    std::vector<RankedModel> chosen;
    for (ListedModel& model : TakeTop(std::move(models), request)) {
      chosen.push_back({.info = std::move(model.info), .config_json = {}, .excluded = {}, .detail = {}});
    }
    return chosen;
  }

  // The recorded name of a renamed model; redirects.json is optional.
  std::string CanonicalId(const std::string& id) const {
    const Result<std::string> text = ReadFile(directory_ / "redirects.json", kMaxLineBytes);
    if (!text) return id;
    const Result<Json> redirects = ParseJson(*text, kMaxLineBytes, kMaxDepth);
    const std::string target = redirects ? TextAt(*redirects, id.c_str()) : std::string();
    return target.empty() ? id : target;
  }

  std::vector<RankedModel> NamedModels(const std::vector<ListedModel>& models,
                                       const std::vector<std::string>& ids) const {
    std::vector<RankedModel> chosen;
    for (const std::string& text : ids) {
      RankedModel model;
      auto named = ParseNamedModel(text);
      const std::string requested = named ? named->id : std::string();
      if (named) named->id = CanonicalId(requested);
      const auto entry = std::find_if(models.begin(), models.end(), [&](const ListedModel& candidate) {
        return named && candidate.info.id == named->id;
      });
      if (entry == models.end()) {
        model.info.id = named ? named->id : Truncate(ToUtf8(text), 200);
        Exclude(model, {Status::kSkippedNotFound, "not in the recording " + directory_.string()});
      } else {
        model.info = entry->info;
        if (named->id != requested) model.info.requested_id = requested;
        const std::string& revision = named->revision;
        if (!revision.empty() && revision != "main" && revision != model.info.sha) {
          Exclude(model, {Status::kFailedResolve,
                          "the recording has this model at " + model.info.sha + " only, not at " + revision});
        }
      }
      chosen.push_back(std::move(model));
    }
    return chosen;
  }

  void Resolve(RankedModel& model, const ListRequest& request, const FamilyTable& families) const {
    const ModelInfo& info = model.info;
    if (auto exclusion = ExcludeByInfo(info, request, options_, families)) return Exclude(model, *std::move(exclusion));
    const fs::path folder = directory_ / "files" / FolderOf(info.id) / info.sha;
    if (Result<std::string> bundle = info.sha.empty() ? Error{ErrorCode::kNotFound, ""} : ReadBundle(folder, options_);
        bundle || bundle.error().code != ErrorCode::kNotFound) {
      if (!bundle) return Exclude(model, {Status::kFailedResolve, bundle.error().message});
      if (model.info.config_source.empty()) model.info.config_source = "file";
      return TakeBundle(*std::move(bundle), families, options_, model);
    }
    const fs::path path = folder / "config.json";
    Result<std::string> bytes = info.sha.empty()
                                    ? Result<std::string>(Error{ErrorCode::kNotFound, "no commit was recorded"})
                                    : ReadFile(path, options_.max_config_bytes);
    if (bytes) {
      if (model.info.config_source.empty()) model.info.config_source = "file";
      return TakeConfig(*std::move(bytes), families, options_, model);
    }
    if (bytes.error().code != ErrorCode::kNotFound) {
      return Exclude(model, {Status::kFailedResolve, bytes.error().message});
    }
    if (!info.gated.empty()) {
      return Exclude(model, {Status::kSkippedGated,
                             "gated (" + info.gated + "): the recording was made without access to its config.json"});
    }
    Exclude(model, {Status::kSkippedNoConfig, "no config.json in the recording: " + bytes.error().message});
  }

  const fs::path directory_;
  const HubOptions options_;
};

}  // namespace

std::unique_ptr<ModelLister> MakeSnapshotLister(std::string directory, HubOptions options) {
  return std::make_unique<SnapshotLister>(std::move(directory), std::move(options));
}

}  // namespace breakwatch::hub
