#include <algorithm>
#include <filesystem>
#include <map>

#include "breakwatch/core/text.h"
#include "breakwatch/hub/hub_lister.h"
#include "bundle.h"
#include "config_check.h"
#include "exclusions.h"
#include "files.h"
#include "model_id.h"
#include "ranking.h"

namespace breakwatch::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxModels = 100'000;
using Found = std::map<std::string, fs::path>;  // id -> configuration, in the order of ids

bool IsHidden(const fs::path& path) { return path.filename().string().starts_with("."); }

// Adds the models in `folder`. Searches one level of organisations.
std::error_code Collect(const fs::path& folder, const std::string& organisation, Found& found) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    if (IsHidden(path) || found.size() >= kMaxModels) continue;
    const bool is_folder = entry->is_directory(ignored);
    if (is_folder && fs::exists(path / kModelIndex, ignored)) {
      found.emplace(organisation + path.filename().string(), path / kModelIndex);
    } else if (is_folder && fs::exists(path / "config.json", ignored)) {
      found.emplace(organisation + path.filename().string(), path / "config.json");
    } else if (is_folder && organisation.empty()) {
      const std::size_t before = found.size();
      (void)Collect(path, path.filename().string() + "/", found);
      // An empty folder was probably meant to be a model, so it is listed and not skipped.
      if (found.size() == before) found.emplace(path.filename().string(), path / "config.json");
    } else if (!is_folder && path.extension() == ".json" && organisation.empty()) {
      found.emplace(path.stem().string(), path);
    }
  }
  return error;
}

class DirectoryLister : public ModelLister {
 public:
  DirectoryLister(std::string directory, HubOptions options)
      : directory_(std::move(directory)), options_(std::move(options)) {}

  Result<RankedList> List(const ListRequest& request, std::stop_token stop, const Progress& progress) override {
    const Result<FamilyTable> families = FamilyTable::Load(options_.families_file);
    if (!families) return families.error();
    Found found;
    if (const std::error_code error = Collect(directory_, "", found)) {
      return Error{ErrorCode::kConfig, "hub.path: " + directory_ + ": " + error.message()};
    }
    if (found.empty()) {
      return Error{ErrorCode::kNotFound, directory_ + ": no <name>/config.json and no <name>.json in it"};
    }
    RankedList list{.source = "directory " + directory_, .ranked = false, .models = {}, .warnings = {}};
    if (found.size() >= kMaxModels) {
      list.warnings.push_back("only the first " + std::to_string(kMaxModels) + " models were read");
    }
    if (Result<void> selected = Select(request, found); !selected) return selected.error();
    for (const auto& [id, path] : found) {
      if (stop.stop_requested()) return Error{ErrorCode::kInterrupted, "interrupted while reading " + directory_};
      list.models.push_back(Read(id, path, *families));
      if (progress) progress(static_cast<int>(list.models.size()), static_cast<int>(found.size()));
    }
    return list;
  }

 private:
  Result<void> Select(const ListRequest& request, Found& found) const {
    ListRequest by_name;
    by_name.author = request.author;
    by_name.search = request.search;
    std::erase_if(found, [&](const auto& entry) {
      ListedModel model;
      model.info.id = entry.first;
      return !Matches(model, by_name);
    });
    if (request.ids.empty()) return {};
    Found selected;
    for (const std::string& id : request.ids) {
      const auto entry = found.find(id);
      if (entry == found.end()) return Error{ErrorCode::kNotFound, directory_ + " contains no model " + id};
      selected.insert(*entry);
    }
    found = std::move(selected);
    return {};
  }

  RankedModel Read(const std::string& id, const fs::path& path, const FamilyTable& families) const {
    RankedModel model;
    model.info.id = ToUtf8(id);
    model.info.config_source = "file";
    const bool is_bundle = path.filename() == kModelIndex;
    Result<std::string> bytes =
        is_bundle ? ReadBundle(path.parent_path(), options_) : ReadFile(path, options_.max_config_bytes);
    if (!bytes) {
      const bool absent = bytes.error().code == ErrorCode::kNotFound;
      Exclude(model, {absent ? Status::kSkippedNoConfig : Status::kFailedResolve, bytes.error().message});
      return model;
    }
    constexpr std::size_t kCommitDigits = 40;
    model.info.sha = Sha256Hex(*bytes).substr(0, kCommitDigits);
    const auto take = is_bundle ? &TakeBundle : &TakeConfig;
    take(*std::move(bytes), families, options_, model);
    if (is_bundle) model.info.library = "diffusers";
    return model;
  }

  const std::string directory_;
  const HubOptions options_;
};

}  // namespace

std::unique_ptr<ModelLister> MakeDirectoryLister(std::string directory, HubOptions options) {
  return std::make_unique<DirectoryLister>(std::move(directory), std::move(options));
}

}  // namespace breakwatch::hub
