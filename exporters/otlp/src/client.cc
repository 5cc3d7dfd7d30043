#include "client.h"

#include <utility>

#include "breakwatch/net/url.h"

namespace breakwatch::exporters::otlp {
namespace {

constexpr std::size_t kMaxAnswerBytes = 256u << 10;  // counts and one text

}  // namespace

Client::Client(const OtlpOptions& options, std::unique_ptr<net::HttpSender> sender, bool once)
    : options_(options), sender_(std::move(sender)), once_(once) {}

Answer Client::Send(std::string body, const std::string& what) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = options_.url;
  request.headers = options_.headers;
  request.headers.emplace_back(
      "Content-Type", options_.encoding == OtlpEncoding::kJson ? "application/json" : "application/x-protobuf");
  request.body = std::move(body);
  request.gzip_body = options_.gzip;
  request.user = options_.user;
  request.password = options_.password;
  request.tls = options_.tls;
  request.fresh_connection = once_;
  request.connect_timeout = options_.connect_timeout;
  request.timeout = options_.timeout;
  request.max_response_bytes = kMaxAnswerBytes;
  return ReadAnswer(sender_->Send(request), "send " + what + " to " + net::PrintableUrl(options_.url));
}

}  // namespace breakwatch::exporters::otlp
