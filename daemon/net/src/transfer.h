// One request on one curl handle: options in, bounded answer out.
#pragma once

#include <curl/curl.h>

#include <array>
#include <string>

#include "breakwatch/net/http.h"
#include "curl_setup.h"

namespace breakwatch::net {

// Owner: a sender or a pool, which uses it for one request after the other. Thread: the owner's.
// Its address is known to curl while a request runs: it does not move.
class Transfer {
 public:
  Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Readies the handle. Error: kInvalid for what must never be sent (line breaks in a header),
  // kInternal when compression fails.
  Result<void> Prepare(HttpRequest request, const std::string& user_agent);
  // The answer once curl has ended with `code`; leaves the transfer ready for the next Prepare.
  Result<HttpResponse> Finish(CURLcode code);

  CURL* handle() { return handle_.get(); }

 private:
  static std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* self);
  void TakeHeaderLine(std::string_view line);
  Result<void> SetHeaders();
  void SetMethod();
  void SetAuthorization();
  void SetTls();
  void SetLimits();
  Error MakeError(CURLcode code) const;

  EasyHandle handle_;
  HttpRequest request_;
  HttpResponse response_;
  HeaderList header_list_;
  std::array<char, CURL_ERROR_SIZE> error_text_{};
  std::size_t header_bytes_ = 0;
  bool body_over_bound_ = false;
  bool headers_over_bound_ = false;
};

}  // namespace breakwatch::net
