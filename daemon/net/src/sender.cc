#include "breakwatch/net/http.h"
#include "transfer.h"

namespace breakwatch::net {
namespace {

class CurlSender : public HttpSender {
 public:
  explicit CurlSender(std::string user_agent) : user_agent_(std::move(user_agent)) {}

  Result<HttpResponse> Send(const HttpRequest& request) override {
    if (Result<void> ready = transfer_.Prepare(request, user_agent_); !ready) return ready.error();
    return transfer_.Finish(curl_easy_perform(transfer_.handle()));
  }

 private:
  const std::string user_agent_;
  Transfer transfer_;  // one handle for all requests: it holds the open connections
};

}  // namespace

std::unique_ptr<HttpSender> MakeHttpSender(std::string user_agent) {
  return std::make_unique<CurlSender>(std::move(user_agent));
}

}  // namespace breakwatch::net
