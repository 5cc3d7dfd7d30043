// The API of one repository: info, commits, refs, tree, paths-info.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http_values.h"
#include "recording.h"

namespace breakwatch::hub_replay {

// A request for an existing repository that the caller may see.
struct RepoRequest {
  const Recording& recording;
  const RecordedModel& model;
  std::vector<std::string> rest;  // decoded path parts after the action
  Pairs query;
  std::string body;
  std::string link_endpoint;
};

Answer JsonAnswer(const Json& value);

Answer Info(const RepoRequest& request);     // rest: nothing, or a revision
Answer Commits(const RepoRequest& request);  // rest: revision
Answer Refs(const RepoRequest& request);
Answer Tree(const RepoRequest& request);       // rest: revision, then the parts of a folder
Answer PathsInfo(const RepoRequest& request);  // rest: revision; body: a form

// True for large files. They are not in git, so the answer is a redirect to their content.
bool IsLarge(std::string_view path);

}  // namespace breakwatch::hub_replay
