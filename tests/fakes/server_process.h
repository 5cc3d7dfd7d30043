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
  // Starts `argv` with its output in `log_path`. The process gets SIGKILL when this program ends for any reason.
  ServerProcess(std::vector<std::string> argv, const std::string& log_path);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Asks it to end, and waits until it has.
  void Stop();
  // Waits until GET `url` answers 200, at most 20 s. False if it did not, or if the process ended.
  bool WaitUntilReady(const std::string& url);
  bool WaitUntilReady(net::HttpRequest request);

 private:
  int pid_ = -1;
};

}  // namespace breakwatch::fakes
