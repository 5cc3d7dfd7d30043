// RemoteHistory: the history of a daemon elsewhere, read over its HTTP API, for `--server`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/net/http.h"

namespace breakwatch::commands {

// Asks one daemon. Thread: the command's.
class RemoteDaemon {
 public:
  // Error: kUsage, `server` is no http or https URL; kConfig, the token cannot be read.
  static Result<RemoteDaemon> At(const App& app, const std::string& server);

  // The JSON text of the answer. `path` begins with a slash. Error: the daemon's own, with its text; kUnavailable, it
  // does not answer or is no breakwatch.
  Result<std::string> Get(const std::string& path);
  Result<std::string> Post(const std::string& path, const std::string& body);
  const std::string& url() const { return url_; }

 private:
  RemoteDaemon(std::unique_ptr<net::HttpSender> sender, std::string url, std::string token)
      : sender_(std::move(sender)), url_(std::move(url)), token_(std::move(token)) {}
  Result<std::string> Ask(net::HttpRequest request);

  std::unique_ptr<net::HttpSender> sender_;
  std::string url_, token_;
};

// "usage", "store", ...: the code of a problem; nullopt: one that only HTTP has.
std::optional<ErrorCode> CodeNamed(const std::string& name);

// The store of the state directory, or the history of the daemon that --server names. Only its reading methods are
// used; those of a daemon elsewhere refuse to write.
Result<std::unique_ptr<store::SweepStore>> OpenHistory(const App& app);

}  // namespace breakwatch::commands
