// Recording: the index of a recording directory in memory. Its files are read on demand.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "faults.h"
#include "json_file.h"

namespace breakwatch::hub_replay {

struct RecordedModel {
  std::string id, sha;
  Json body;
  bool missing = false;  // listed, but missing when requested

  bool IsPrivate() const { return body.value("private", false); }
  bool IsDisabled() const { return body.value("disabled", false); }
  bool IsGated() const;
};

// Immutable once loaded: any thread may read it.
class Recording {
 public:
  // Error: kNotFound if recording.json is missing, kInvalid with file and line.
  static Result<Recording> Load(const std::filesystem::path& dir);

  const std::vector<RecordedModel>& models() const { return models_; }
  const Faults& faults() const { return faults_; }

  // By exact id.
  const RecordedModel* Find(std::string_view id) const;
  // The target of the Hub's redirect for `id`: the new name of a repository, or another case. nullopt if there is none.
  std::optional<std::string> RedirectOf(std::string_view id) const;
  // The commit of a branch or commit name. nullopt if there is none.
  std::optional<std::string> Commit(const RecordedModel& model, std::string_view revision) const;
  // The head, then other recorded commits, in order.
  std::vector<std::string> Commits(const RecordedModel& model) const;
  // Paths recorded at a commit, ordered.
  std::vector<std::string> Files(const RecordedModel& model, const std::string& commit) const;
  // The content. nullopt if the path was not recorded or leaves the commit's folder.
  Result<std::optional<std::string>> Read(const RecordedModel& model, const std::string& commit,
                                          std::string_view path) const;

 private:
  std::filesystem::path Folder(const RecordedModel& model) const;
  std::filesystem::path CommitFolder(const RecordedModel& model, std::string_view commit) const;
  Result<void> LoadModels();
  Result<void> LoadRedirects();
  Result<void> LoadFaults();

  std::filesystem::path dir_;
  std::vector<RecordedModel> models_;
  std::map<std::string, std::size_t, std::less<>> by_id_;
  std::map<std::string, std::string, std::less<>> by_lower_id_;  // canonical ids
  std::map<std::string, std::string, std::less<>> redirects_;
  Faults faults_;
};

}  // namespace breakwatch::hub_replay
