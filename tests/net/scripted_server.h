// ScriptedServer: an HTTP/1.1 server on a free loopback port with answers written by the test, including faults.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace breakwatch::testing {

struct SeenRequest {
  std::string method;
  std::string target;                          // path and query as sent
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;

  std::string Header(const std::string& name) const;
  std::string Path() const;  // without the query
  // The values of one query parameter, percent-decoded, in order.
  std::vector<std::string> Query(const std::string& name) const;
};

struct Reply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};
  bool hang = false;       // sends nothing until the server stops
  bool hang_up = false;    // closes the connection without an answer
  bool cut_short = false;  // announces the complete body, sends half, closes
  bool dribbles = false;   // sends one byte a second
  std::string raw{};       // sent in place of all this, then the connection is closed
};

// Thread: the handler runs on a thread of the server, one request at a time. The destructor ends its threads, including
// replies that hang.
class ScriptedServer {
 public:
  using Handler = std::function<Reply(const SeenRequest&)>;
  explicit ScriptedServer(Handler handler);
  ~ScriptedServer();

  std::string Url() const;        // "http://127.0.0.1:PORT"
  std::string Authority() const;  // "127.0.0.1:PORT"
  std::vector<SeenRequest> Requests() const;
  int Connections() const { return connections_; }

 private:
  void Accept();
  void JoinEnded();
  void Serve(int socket);
  bool Answer(int socket, const Reply& reply, bool is_head);
  bool Dribble(int socket, const std::string& text);

  const Handler handler_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_{0};
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::condition_variable stopped_;
  std::vector<SeenRequest> requests_;
  std::vector<int> sockets_;
  std::vector<std::thread> threads_;
  std::vector<std::thread::id> ended_;  // of these, not joined yet
  std::mutex handler_mutex_;
  std::thread acceptor_;
};

}  // namespace breakwatch::testing
