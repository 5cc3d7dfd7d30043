// A real server as a child process on a free loopback port, killed with its owner.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/net/http.h"

namespace breakwatch::fakes {

// The path of a program in PATH, or empty.
std::string FindProgram(const std::string& name);
// A port that was free a moment ago.
int FreePort();

class ServerProcess {
 public:
  // Starts `argv`, its output into `log_path`. The process gets SIGKILL when this program ends, however it ends.
  ServerProcess(std::vector<std::string> argv, const std::string& log_path);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Waits until GET `url` answers 200, at most 20 s. False: it never did, or the process ended.
  bool WaitUntilReady(const std::string& url);
  bool WaitUntilReady(net::HttpRequest request);

 private:
  int pid_ = -1;
};

}  // namespace breakwatch::fakes
