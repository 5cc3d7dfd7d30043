// One request on one curl handle: sets the options and returns an answer of bounded size.
#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "breakwatch/net/http.h"
#include "curl_setup.h"

namespace breakwatch::net {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// Owner: a sender or a pool, which uses it for one request after the other. Thread: the owner's. It cannot be moved,
// because curl keeps its address during a request.
class Transfer {
 public:
  Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Prepares the handle. Error: kInvalid for an invalid request (line breaks in a header), kInternal if compression
  // fails.
  Result<void> Prepare(HttpRequest request, const std::string& user_agent);
  // Returns the answer after curl ended with `code`. The transfer is then ready for the next Prepare.
  Result<HttpResponse> Finish(CURLcode code);

  CURL* handle() { return handle_.get(); }

 private:
  static std::size_t OnHeader(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t OnBody(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t OnRead(char* data, std::size_t size, std::size_t count, void* self);
  static int OnSeek(void* self, curl_off_t offset, int origin);
  Result<void> OpenFiles();
  bool IsAnswered(int status);
  bool WritesFile();
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
  File sent_, received_;  // HttpRequest::body_file and response_file
  std::int64_t sent_size_ = 0;
  std::size_t received_size_ = 0;
  int disk_error_ = 0;  // of `received_`: errno
  bool body_over_bound_ = false;
  bool has_enough_ = false;  // HttpRequest::on_body needs no more
  bool headers_over_bound_ = false;
  bool headers_ended_ = false;  // libcurl takes an answer that ends in its headers for a complete one
};

}  // namespace breakwatch::net
