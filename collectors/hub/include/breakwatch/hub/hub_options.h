// HubOptions: how to reach the Hub, and limits of its answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace breakwatch::hub {

struct HubOptions {
  std::string endpoint = "https://huggingface.co";  // with a path prefix when a mirror has one
  std::string token;                                // sent to the endpoint's host only; never in a message
  std::string cache_dir;                            // the Python client's cache; empty: none is read or written
  bool offline = false;                             // no request at all: cache only
  int concurrency = 16;                             // requests in flight
  int tries = 5;                                    // of one request
  int page_size = 500;                              // models requested per page
  int max_pages = 100;                              // of one listing
  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds timeout{30'000};           // of one config.json or info body
  std::chrono::milliseconds list_timeout{60'000};      // of one page of the listing
  std::chrono::milliseconds listing_timeout{600'000};  // of all its pages, retries and pauses included
  std::chrono::milliseconds first_backoff{1'000}, max_backoff{8'000};
  std::chrono::milliseconds max_pause{310'000};  // longest pause that a server may request: a rate window and a reserve
  std::size_t max_config_bytes = 4u << 20;
  int max_config_depth = 64;
  std::optional<std::int64_t> max_params;  // larger models are skipped_too_large
  std::string families_file;               // empty: the built-in copy of config/families.yaml
  std::string user_agent = "breakwatch";
};

using GetEnvironment = std::function<const char*(const char* name)>;

// The options of the Hub's own variables, as in huggingface_hub: HF_ENDPOINT, HF_TOKEN or the token
// file (HF_TOKEN_PATH, HF_HOME), HF_HUB_DISABLE_IMPLICIT_TOKEN, HF_HUB_CACHE, HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE,
// HF_HUB_ETAG_TIMEOUT, HF_HUB_DOWNLOAD_TIMEOUT, HF_HUB_USER_AGENT_ORIGIN. `user_agent` is "breakwatch/VERSION".
HubOptions HubOptionsFromEnvironment(const GetEnvironment& getenv, std::string user_agent = "breakwatch");

}  // namespace breakwatch::hub
