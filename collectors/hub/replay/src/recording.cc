#include "recording.h"

#include <algorithm>

#include "breakwatch/core/text.h"
#include "http_values.h"
#include "paths.h"

namespace breakwatch::hub_replay {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxModels = 200'000;
constexpr std::size_t kMaxFilesOfCommit = 10'000;

Result<RecordedModel> ReadModel(std::string_view line) {
  auto body = ParseChecked(line, kMaxLine);
  if (!body) return body.error();
  if (!body->is_object()) return Error{ErrorCode::kInvalid, "not an object"};
  RecordedModel model;
  model.id = Text(*body, "id");
  model.sha = Text(*body, "sha");
  if (!IsModelId(model.id)) return Error{ErrorCode::kInvalid, "id: not a model id"};
  if (!IsCommit(model.sha)) return Error{ErrorCode::kInvalid, "sha: not 40 hex digits"};
  if (Text(*body, "_id").empty()) return Error{ErrorCode::kInvalid, "_id: missing"};
  for (const char* flag : {"private", "disabled"}) {
    if (body->contains(flag) && !(*body)[flag].is_boolean()) {
      return Error{ErrorCode::kInvalid, std::string(flag) + ": not true or false"};
    }
  }
  model.body = std::move(*body);
  return model;
}

void Apply(ModelFault fault, RecordedModel& model) {
  switch (fault) {
    case ModelFault::kGated:
      if (!model.IsGated()) model.body["gated"] = "manual";
      break;
    case ModelFault::kDisabled:
      model.body["disabled"] = true;
      break;
    case ModelFault::kMissing:
      model.missing = true;
      break;
    case ModelFault::kPrivate:
      model.body["private"] = true;
      break;
  }
}

}  // namespace

bool RecordedModel::IsGated() const {
  const auto gated = body.find("gated");
  return gated != body.end() && (gated->is_string() || (gated->is_boolean() && gated->get<bool>()));
}

Result<Recording> Recording::Load(const fs::path& dir) {
  Recording recording;
  recording.dir_ = dir;
  const auto about = ReadIfThere(dir / "recording.json", kMaxLine);
  if (!about) return about.error();
  if (!*about) return Error{ErrorCode::kNotFound, dir.string() + ": no recording.json: not a recording"};
  const auto parsed = ParseChecked(**about, kMaxLine);
  if (!parsed) return parsed.error().Within((dir / "recording.json").string());
  if (!parsed->is_object() || parsed->value("format", Json()) != 1) {
    return Error{ErrorCode::kInvalid, (dir / "recording.json").string() + ": format: expected 1"};
  }
  for (const auto load : {&Recording::LoadModels, &Recording::LoadRedirects, &Recording::LoadFaults}) {
    if (auto loaded = (recording.*load)(); !loaded) return loaded.error();
  }
  return recording;
}

Result<void> Recording::LoadModels() {
  const fs::path path = dir_ / "models.jsonl";
  const auto bytes = ReadIfThere(path, kMaxFile);
  if (!bytes) return bytes.error();
  if (!*bytes) return Error{ErrorCode::kNotFound, path.string() + ": missing"};
  std::string_view rest = **bytes;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.empty()) continue;
    const std::string place = path.string() + ":" + std::to_string(number);
    auto model = ReadModel(line);
    if (!model) return model.error().Within(place);
    if (models_.size() == kMaxModels) return Error{ErrorCode::kInvalid, place + ": more than 200000 models"};
    if (!by_id_.emplace(model->id, models_.size()).second) {
      return Error{ErrorCode::kInvalid, place + ": " + model->id + " twice"};
    }
    by_lower_id_.emplace(Lower(model->id), model->id);
    models_.push_back(std::move(*model));
  }
  return {};
}

Result<void> Recording::LoadRedirects() {
  const fs::path path = dir_ / "redirects.json";
  const auto bytes = ReadIfThere(path, kMaxFile);
  if (!bytes) return bytes.error();
  if (!*bytes) return {};
  const auto parsed = ParseChecked(**bytes, kMaxFile);
  if (!parsed) return parsed.error().Within(path.string());
  const Error bad{ErrorCode::kInvalid, path.string() + ": expected an object of ids"};
  if (!parsed->is_object()) return bad;
  for (const auto& [old_id, new_id] : parsed->items()) {
    if (!new_id.is_string() || !IsPlainPath(new_id.get<std::string>())) return bad;
    redirects_.emplace(old_id, new_id.get<std::string>());
  }
  return {};
}

Result<void> Recording::LoadFaults() {
  const fs::path path = dir_ / "faults.json";
  const auto bytes = ReadIfThere(path, kMaxFile);
  if (!bytes) return bytes.error();
  if (!*bytes) return {};
  const auto parsed = ParseChecked(**bytes, kMaxFile);
  if (!parsed) return parsed.error().Within(path.string());
  auto faults = ParseFaults(*parsed);
  if (!faults) return faults.error();
  faults_ = std::move(*faults);
  for (const auto& [id, fault] : faults_.models) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return Error{ErrorCode::kInvalid, path.string() + ": models." + id + ": no such model"};
    Apply(fault, models_[found->second]);
  }
  return {};
}

const RecordedModel* Recording::Find(std::string_view id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &models_[found->second];
}

std::optional<std::string> Recording::RedirectOf(std::string_view id) const {
  if (by_id_.contains(id)) return std::nullopt;
  if (const auto renamed = redirects_.find(id); renamed != redirects_.end()) return renamed->second;
  if (const auto other_case = by_lower_id_.find(Lower(id)); other_case != by_lower_id_.end()) return other_case->second;
  return std::nullopt;
}

fs::path Recording::Folder(const RecordedModel& model) const { return dir_ / "files" / FolderName(model.id); }

fs::path Recording::CommitFolder(const RecordedModel& model, std::string_view commit) const {
  return Folder(model) / commit;
}

std::optional<std::string> Recording::Commit(const RecordedModel& model, std::string_view revision) const {
  if (revision == "main" || revision == "HEAD" || revision == "refs/heads/main" || revision == model.sha)
    return model.sha;
  std::error_code code;
  if (IsCommit(revision) && fs::is_directory(CommitFolder(model, revision), code)) return std::string(revision);
  return std::nullopt;
}

std::vector<std::string> Recording::Commits(const RecordedModel& model) const {
  std::vector<std::string> commits;
  std::error_code code;
  for (fs::directory_iterator entry(Folder(model), code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    if (IsCommit(name) && name != model.sha && entry->is_directory(code)) commits.push_back(name);
  }
  std::sort(commits.begin(), commits.end());
  commits.insert(commits.begin(), model.sha);
  return commits;
}

std::vector<std::string> Recording::Files(const RecordedModel& model, const std::string& commit) const {
  const fs::path folder = CommitFolder(model, commit);
  std::vector<std::string> files;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    if (files.size() == kMaxFilesOfCommit) break;
    if (entry->is_regular_file(code)) files.push_back(entry->path().lexically_relative(folder).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::optional<std::string>> Recording::Read(const RecordedModel& model, const std::string& commit,
                                                   std::string_view path) const {
  if (!IsPlainPath(path)) return std::optional<std::string>();
  return ReadIfThere(CommitFolder(model, commit) / path, kMaxFile);
}

}  // namespace breakwatch::hub_replay
