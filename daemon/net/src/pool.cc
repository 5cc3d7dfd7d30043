#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "breakwatch/net/http.h"
#include "transfer.h"

namespace breakwatch::net {
namespace {

using Steady = std::chrono::steady_clock;

Error Interrupted() { return {ErrorCode::kInterrupted, "interrupted while waiting for answers"}; }

// A request waits in `queue_` (or `delayed_` until its time), then runs as an entry of `running_`.
class CurlPool : public HttpPool {
 public:
  CurlPool(std::string user_agent, std::size_t max_in_flight)
      : user_agent_(std::move(user_agent)), max_in_flight_(std::max<std::size_t>(1, max_in_flight)) {
    StartCurl();
    multi_.reset(curl_multi_init());
    if (!multi_) return;
    curl_multi_setopt(multi_.get(), CURLMOPT_MAXCONNECTS, static_cast<long>(max_in_flight_));
    curl_multi_setopt(multi_.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, static_cast<long>(max_in_flight_));
  }

  ~CurlPool() override {
    for (auto& [handle, entry] : running_) curl_multi_remove_handle(multi_.get(), handle);
  }

  void Submit(HttpRequest request, Done done) override { queue_.push_back({std::move(request), std::move(done)}); }

  void SubmitAfter(std::chrono::milliseconds delay, HttpRequest request, Done done) override {
    delayed_.emplace(Steady::now() + delay, Waiting{std::move(request), std::move(done)});
  }

  Result<void> Run(std::stop_token stop) override {
    if (!multi_) return Error{ErrorCode::kInternal, "libcurl cannot create a multi handle: out of memory"};
    // A stop request comes from another thread; curl_multi_wakeup is safe for that.
    const std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi_.get()); });
    while (true) {
      if (stop.stop_requested()) {
        CancelAll();
        return Interrupted();
      }
      StartWhatFits();
      if (running_.empty() && queue_.empty() && delayed_.empty()) return {};
      int still_running = 0;
      if (const CURLMcode code = curl_multi_perform(multi_.get(), &still_running); code != CURLM_OK) {
        CancelAll();
        return Error{ErrorCode::kInternal, std::string("libcurl: ") + curl_multi_strerror(code)};
      }
      if (!FinishEnded()) curl_multi_poll(multi_.get(), nullptr, 0, PollMilliseconds(), nullptr);
    }
  }

 private:
  struct Waiting {
    HttpRequest request;
    Done done;
  };
  struct Running {
    std::unique_ptr<Transfer> transfer;
    Done done;
  };

  void StartWhatFits() {
    const auto now = Steady::now();
    while (!delayed_.empty() && delayed_.begin()->first <= now) {
      queue_.push_back(std::move(delayed_.extract(delayed_.begin()).mapped()));
    }
    while (!queue_.empty() && running_.size() < max_in_flight_) {
      Waiting next = std::move(queue_.front());
      queue_.pop_front();
      Start(std::move(next));
    }
  }

  void Start(Waiting next) {
    if (idle_.empty()) idle_.push_back(std::make_unique<Transfer>());
    std::unique_ptr<Transfer> transfer = std::move(idle_.back());
    idle_.pop_back();
    if (Result<void> ready = transfer->Prepare(std::move(next.request), user_agent_); !ready) {
      next.done(ready.error());
      return;
    }
    CURL* handle = transfer->handle();
    running_.emplace(handle, Running{std::move(transfer), std::move(next.done)});
    curl_multi_add_handle(multi_.get(), handle);
  }

  // True if a callback received an answer. It may have submitted more requests.
  bool FinishEnded() {
    bool any = false;
    int left = 0;
    while (CURLMsg* message = curl_multi_info_read(multi_.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* handle = message->easy_handle;
      const CURLcode code = message->data.result;  // removing the handle invalidates `message`
      curl_multi_remove_handle(multi_.get(), handle);
      Running ended = std::move(running_.extract(handle).mapped());
      Result<HttpResponse> answer = ended.transfer->Finish(code);
      idle_.push_back(std::move(ended.transfer));
      ended.done(std::move(answer));
      any = true;
    }
    return any;
  }

  int PollMilliseconds() const {
    constexpr std::int64_t kLongest = 1000;  // curl shortens it to its own next timeout
    if (delayed_.empty()) return kLongest;
    const auto until = std::chrono::ceil<std::chrono::milliseconds>(delayed_.begin()->first - Steady::now());
    return static_cast<int>(std::clamp<std::int64_t>(until.count(), 0, kLongest));
  }

  void CancelAll() {
    auto running = std::move(running_);
    running_.clear();
    for (auto& [handle, entry] : running) curl_multi_remove_handle(multi_.get(), handle);
    auto queue = std::move(queue_);
    queue_.clear();
    auto delayed = std::move(delayed_);
    delayed_.clear();
    for (auto& [handle, entry] : running) entry.done(Interrupted());
    for (Waiting& waiting : queue) waiting.done(Interrupted());
    for (auto& [when, waiting] : delayed) waiting.done(Interrupted());
    // Requests that a callback submitted meanwhile stay for the next Run.
  }

  const std::string user_agent_;
  const std::size_t max_in_flight_;
  MultiHandle multi_;
  std::deque<Waiting> queue_;
  std::multimap<Steady::time_point, Waiting> delayed_;
  std::unordered_map<CURL*, Running> running_;
  std::vector<std::unique_ptr<Transfer>> idle_;
};

}  // namespace

std::unique_ptr<HttpPool> MakeHttpPool(std::string user_agent, std::size_t max_in_flight) {
  return std::make_unique<CurlPool>(std::move(user_agent), max_in_flight);
}

}  // namespace breakwatch::net
