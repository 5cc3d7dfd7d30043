#include "refold.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace breakwatch::engine {

Refold::Refold(OpenCurrent open, AggregateOptions options) : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  thread_ = std::jthread([this, open = std::move(open), options = std::move(options)](const std::stop_token& stop) {
    pthread_setname_np(pthread_self(), "refold");
    auto current = open();
    folded_ = current ? FoldHistory(**current, options, stop) : Result<FoldedHistory>(current.error());
    const std::uint64_t one = 1;
    (void)!write(event_fd_, &one, sizeof one);
  });
}

Refold::~Refold() {
  thread_.request_stop();
  thread_.join();
  close(event_fd_);
}

std::optional<Result<FoldedHistory>> Refold::Take() {
  std::uint64_t ended = 0;
  if (read(event_fd_, &ended, sizeof ended) != sizeof ended) return std::nullopt;
  return std::exchange(folded_, std::nullopt);
}

}  // namespace breakwatch::engine
