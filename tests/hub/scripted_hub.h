// A Hub with a few answers written by the test, by path, on a ScriptedServer.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "breakwatch/hub/hub_lister.h"
#include "net/scripted_server.h"

namespace breakwatch::testing {

inline const std::string kCommitA(40, 'a');
inline const std::string kCommitB(40, 'b');

class ScriptedHub {
 public:
  ScriptedHub();

  // Answers to a path (without its query), given in order; the last one is repeated. Other paths: 404 RepoNotFound.
  void On(const std::string& path, Reply reply);
  // A page of the listing, including the link to the next one unless it is the last.
  void OnPages(const std::vector<std::string>& pages);
  // The file of a model: the relative redirect and the file behind it, as on the Hub.
  void OnConfig(const std::string& id, const std::string& sha, const std::string& config);

  ScriptedServer& server() { return server_; }
  // Requests whose path begins with `prefix`.
  std::vector<SeenRequest> Requests(const std::string& prefix = "/") const;
  // Short back-offs, no cache.
  hub::HubOptions Options() const;

 private:
  Reply Answer(const SeenRequest& request);

  std::mutex mutex_;
  std::map<std::string, std::deque<Reply>> replies_;
  ScriptedServer server_;
};

// One entry of a listing.
std::string Entry(const std::string& id, const std::string& sha, const std::string& more_fields = "\"downloads\":5");
Reply Json(const std::string& body);
Reply Refusal(int status, const std::string& code, const std::string& message);

Result<RankedList> List(const hub::HubOptions& options, const ListRequest& request, std::stop_token stop = {});
Result<RankedList> ListNamed(const hub::HubOptions& options, const std::vector<std::string>& ids);

}  // namespace breakwatch::testing
