// The set-up that all curl handles of the program share.
#pragma once

#include <curl/curl.h>

#include <memory>

namespace breakwatch::net {

// Starts libcurl once in the life of the program; safe from any thread.
void StartCurl();

struct EasyDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct MultiDeleter {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};
struct ListDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using EasyHandle = std::unique_ptr<CURL, EasyDeleter>;
using MultiHandle = std::unique_ptr<CURLM, MultiDeleter>;
using HeaderList = std::unique_ptr<curl_slist, ListDeleter>;

}  // namespace breakwatch::net
