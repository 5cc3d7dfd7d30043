#include "breakwatch/net/http.h"
#include "transfer.h"

namespace breakwatch::net {
namespace {

class CurlSender : public HttpSender {
 public:
  CurlSender(std::string user_agent, std::stop_token stop)
      : user_agent_(std::move(user_agent)), stop_(std::move(stop)) {}

  Result<HttpResponse> Send(const HttpRequest& request) override {
    if (Result<void> ready = transfer_.Prepare(request, user_agent_); !ready) return ready.error();
    if (stop_.stop_possible()) {
      curl_easy_setopt(transfer_.handle(), CURLOPT_NOPROGRESS, 0L);
      curl_easy_setopt(transfer_.handle(), CURLOPT_XFERINFOFUNCTION, &CurlSender::OnProgress);
      curl_easy_setopt(transfer_.handle(), CURLOPT_XFERINFODATA, &stop_);
    }
    return transfer_.Finish(curl_easy_perform(transfer_.handle()));
  }

 private:
  // Curl calls this at least once a second, even without traffic. A result other than 0 aborts.
  static int OnProgress(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
  }

  const std::string user_agent_;
  std::stop_token stop_;
  Transfer transfer_;  // one handle for all requests: it keeps the open connections
};

}  // namespace

std::unique_ptr<HttpSender> MakeHttpSender(std::string user_agent, std::stop_token stop) {
  return std::make_unique<CurlSender>(std::move(user_agent), std::move(stop));
}

}  // namespace breakwatch::net
