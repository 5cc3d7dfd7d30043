// Connection: a client's socket as a stream of the HTTP library. Bytes that were read before come first.
#pragma once

#include <httplib.h>

#include <chrono>
#include <string>

namespace breakwatch::api {

// Owns its socket. Thread: one at a time; Abort and EndReading from any.
class Connection final : public httplib::Stream {
 public:
  explicit Connection(int fd, std::string bytes = {}) : fd_(fd), bytes_(std::move(bytes)) {}
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The rest of a request must arrive within this time; each part of a response must be taken, and all of it.
  static constexpr std::chrono::milliseconds kReadPatience{10'000}, kReadPause{5'000}, kWritePatience{30'000},
      kWholePatience{300'000};

  // Starts the time of a request.
  void Begin() {
    deadline_ = std::chrono::steady_clock::now() + kReadPatience;
    last_write_ = std::chrono::steady_clock::now() + kWholePatience;
  }
  // Ends reads that wait for more from the client. Its response can still be written.
  void EndReading() const;
  // Ends reads and writes that run, and later ones.
  void Abort() const;
  // Ends the writing, and takes what the client still sent: what it did not read yet would otherwise be lost.
  void Finish();
  // Gives the socket away, and what was read from it.
  int Release(std::string& bytes);

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return fd_; }

 private:
  bool WaitFor(short events, std::chrono::milliseconds time) const;

  int fd_;
  std::string bytes_;
  std::size_t taken_ = 0;
  std::chrono::steady_clock::time_point deadline_{}, last_write_{};
};

}  // namespace breakwatch::api
