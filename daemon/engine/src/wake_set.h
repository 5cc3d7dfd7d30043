// WakeSet: one descriptor that is readable while any of several descriptors is.
#pragma once

#include <sys/epoll.h>
#include <unistd.h>

namespace breakwatch::engine {

class WakeSet {
 public:
  WakeSet() : fd_(epoll_create1(EPOLL_CLOEXEC)) {}
  ~WakeSet() { close(fd_); }
  WakeSet(const WakeSet&) = delete;
  WakeSet& operator=(const WakeSet&) = delete;

  void Add(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event);
  }
  void Remove(int fd) { epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr); }
  int Fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace breakwatch::engine
