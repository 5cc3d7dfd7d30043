#include "net/scripted_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <stdexcept>

namespace breakwatch::testing {
namespace {

std::string Decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// False at the end of the connection.
bool ReadMore(int socket, std::string& buffer) {
  char chunk[16384];
  const ssize_t got = recv(socket, chunk, sizeof chunk, 0);
  if (got <= 0) return false;
  buffer.append(chunk, static_cast<std::size_t>(got));
  return true;
}

// True if everything was sent.
bool SendAll(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

SeenRequest ParseHead(const std::string& head) {
  SeenRequest request;
  std::size_t at = head.find("\r\n");
  const std::string first = head.substr(0, at);
  const std::size_t blank = first.find(' ');
  request.method = first.substr(0, blank);
  request.target = first.substr(blank + 1, first.rfind(' ') - blank - 1);
  while (at != std::string::npos && at + 2 < head.size()) {
    const std::size_t end = head.find("\r\n", at + 2);
    const std::string line = head.substr(at + 2, end == std::string::npos ? end : end - at - 2);
    at = end;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::size_t value = line.find_first_not_of(' ', colon + 1);
    request.headers[name] = value == std::string::npos ? "" : line.substr(value);
  }
  return request;
}

}  // namespace

std::string SeenRequest::Header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

std::string SeenRequest::Path() const { return target.substr(0, target.find('?')); }

std::vector<std::string> SeenRequest::Query(const std::string& name) const {
  std::vector<std::string> values;
  std::size_t at = target.find('?');
  while (at != std::string::npos) {
    const std::size_t end = target.find('&', at + 1);
    const std::string pair = target.substr(at + 1, end == std::string::npos ? end : end - at - 1);
    const std::size_t equals = pair.find('=');
    if (Decode(pair.substr(0, equals)) == name) {
      values.push_back(equals == std::string::npos ? "" : Decode(pair.substr(equals + 1)));
    }
    at = end;
  }
  return values;
}

ScriptedServer::ScriptedServer(Handler handler) : handler_(std::move(handler)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(listener_, 64) != 0) {
    throw std::runtime_error("no free loopback port");
  }
  socklen_t size = sizeof address;
  getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] { Accept(); });
}

ScriptedServer::~ScriptedServer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (int socket : sockets_) shutdown(socket, SHUT_RDWR);
  }
  stopped_.notify_all();
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

std::string ScriptedServer::Authority() const { return "127.0.0.1:" + std::to_string(port_); }
std::string ScriptedServer::Url() const { return "http://" + Authority(); }

std::vector<SeenRequest> ScriptedServer::Requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void ScriptedServer::Accept() {
  while (true) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    if (stopping_) {
      close(socket);
      return;
    }
    ++connections_;
    JoinEnded();
    sockets_.push_back(socket);
    threads_.emplace_back([this, socket] { Serve(socket); });
  }
}

// The stack of a thread that ended is kept until it is joined, and a benchmark makes thousands of connections.
void ScriptedServer::JoinEnded() {
  std::erase_if(threads_, [this](std::thread& thread) {
    if (std::find(ended_.begin(), ended_.end(), thread.get_id()) == ended_.end()) return false;
    thread.join();
    return true;
  });
  ended_.clear();
}

void ScriptedServer::Serve(int socket) {
  std::string buffer;
  bool open = true;
  while (open && !stopping_) {
    std::size_t head = std::string::npos;
    while (open && (head = buffer.find("\r\n\r\n")) == std::string::npos) open = ReadMore(socket, buffer);
    if (!open) break;
    SeenRequest request = ParseHead(buffer.substr(0, head));
    const std::string length = request.Header("content-length");
    const std::size_t body = length.empty() ? 0 : std::stoul(length);
    while (open && buffer.size() < head + 4 + body) open = ReadMore(socket, buffer);
    if (!open) break;
    request.body = buffer.substr(head + 4, body);
    buffer.erase(0, head + 4 + body);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    Reply reply;
    {
      const std::lock_guard lock(handler_mutex_);
      reply = handler_(request);
    }
    open = Answer(socket, reply, request.method == "HEAD");
  }
  const std::lock_guard lock(mutex_);
  sockets_.erase(std::find(sockets_.begin(), sockets_.end(), socket));
  ended_.push_back(std::this_thread::get_id());
  close(socket);
}

bool ScriptedServer::Dribble(int socket, const std::string& text) {
  for (const char c : text) {
    if (!SendAll(socket, {&c, 1})) return false;
    std::unique_lock lock(mutex_);
    if (stopped_.wait_for(lock, std::chrono::seconds(1), [this] { return stopping_.load(); })) return false;
  }
  return true;
}

bool ScriptedServer::Answer(int socket, const Reply& reply, bool is_head) {
  if (reply.hang) {
    std::unique_lock lock(mutex_);
    stopped_.wait(lock, [this] { return stopping_.load(); });
    return false;
  }
  if (reply.hang_up) return false;
  if (!reply.raw.empty()) return SendAll(socket, reply.raw), false;
  std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " Scripted\r\n";
  bool has_length = false;
  for (const auto& [name, value] : reply.headers) {
    text += name + ": " + value + "\r\n";
    has_length = has_length || name == "Content-Length";
  }
  if (!has_length && reply.status != 204 && reply.status != 304) {
    text += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
  }
  text += "\r\n";
  if (!is_head) text += reply.cut_short ? reply.body.substr(0, reply.body.size() / 2) : reply.body;
  if (reply.dribbles) return Dribble(socket, text);
  return SendAll(socket, text) && !reply.cut_short;
}

}  // namespace breakwatch::testing
