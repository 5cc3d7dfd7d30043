#include "listing.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace breakwatch::engine {

Listing::Listing(ModelLister& lister, ListRequest request)
    : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this, &lister, asked = std::move(request)](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "lister");
        auto answer = lister.List(asked, stop, [this](int resolved, int total) {
          resolved_ = resolved;
          total_ = total;
          Signal();
        });
        {
          const std::lock_guard lock(mutex_);
          answer_ = std::move(answer);
        }
        Signal();
      }) {}

Listing::~Listing() {
  thread_.request_stop();
  thread_.join();
  close(event_fd_);
}

Listing::News Listing::Take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto bytes = read(event_fd_, &count, sizeof count);
  const std::lock_guard lock(mutex_);
  return {std::exchange(answer_, std::nullopt), resolved_, total_};
}

void Listing::Signal() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto bytes = write(event_fd_, &one, sizeof one);
}

}  // namespace breakwatch::engine
