#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "breakwatch/core/text.h"
#include "breakwatch/hub/hub_options.h"
#include "files.h"

namespace breakwatch::hub {
namespace {

std::string Get(const GetEnvironment& getenv, const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

bool IsTrue(std::string value) {
  for (char& c : value) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

// Expands "~" at the start, and "$NAME" and "${NAME}" anywhere. Unknown names stay unchanged.
std::string Expand(const GetEnvironment& getenv, std::string text) {
  if (text == "~" || text.starts_with("~/")) text = Get(getenv, "HOME") + text.substr(1);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '$') {
      out += text[i++];
      continue;
    }
    const bool braced = i + 1 < text.size() && text[i + 1] == '{';
    const std::size_t begin = i + (braced ? 2 : 1);
    std::size_t end = begin;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    const bool closed = !braced || (end < text.size() && text[end] == '}');
    const char* value = end > begin && closed ? getenv(text.substr(begin, end - begin).c_str()) : nullptr;
    const std::size_t next = end + (braced && closed ? 1 : 0);
    out += value ? std::string(value) : text.substr(i, next - i);
    i = next;
  }
  return out;
}

// The path in a variable, or `fallback` if it is not set.
std::string PathOf(const GetEnvironment& getenv, const char* name, const std::string& fallback) {
  const char* value = getenv(name);
  return Expand(getenv, value && *value ? value : fallback);
}

std::string CleanToken(const std::string& text) {
  std::string token;
  std::copy_if(text.begin(), text.end(), std::back_inserter(token), [](char c) { return c != '\r' && c != '\n'; });
  return std::string(Trim(token));
}

std::string FindToken(const GetEnvironment& getenv, const std::string& hf_home) {
  if (IsTrue(Get(getenv, "HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return {};
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"}) {
    if (std::string token = CleanToken(Get(getenv, name)); !token.empty()) return token;
  }
  constexpr std::size_t kMaxTokenBytes = 4096;
  const Result<std::string> file = ReadFile(PathOf(getenv, "HF_TOKEN_PATH", hf_home + "/token"), kMaxTokenBytes);
  return file ? CleanToken(*file) : std::string();
}

std::optional<std::chrono::milliseconds> Seconds(const std::string& text) {
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{} || end != text.data() + text.size() || seconds <= 0) return std::nullopt;
  return std::chrono::seconds(seconds);
}

}  // namespace

HubOptions HubOptionsFromEnvironment(const GetEnvironment& getenv, std::string user_agent) {
  HubOptions options;
  options.user_agent = std::move(user_agent);
  if (const std::string origin = Get(getenv, "HF_HUB_USER_AGENT_ORIGIN"); !origin.empty()) {
    options.user_agent += "; origin/" + origin;
  }
  if (const std::string endpoint = Get(getenv, "HF_ENDPOINT"); !endpoint.empty()) options.endpoint = endpoint;
  while (options.endpoint.ends_with('/')) options.endpoint.pop_back();

  const std::string cache_home = PathOf(getenv, "XDG_CACHE_HOME", "~/.cache");
  const std::string hf_home = PathOf(getenv, "HF_HOME", cache_home + "/huggingface");
  options.token = FindToken(getenv, hf_home);
  options.cache_dir = PathOf(getenv, "HF_HUB_CACHE", PathOf(getenv, "HUGGINGFACE_HUB_CACHE", hf_home + "/hub"));

  // As in the Python client, the older variable is used only if the newer one is empty.
  std::string offline = Get(getenv, "HF_HUB_OFFLINE");
  if (offline.empty()) offline = Get(getenv, "TRANSFORMERS_OFFLINE");
  options.offline = IsTrue(offline);

  if (const auto time = Seconds(Get(getenv, "HF_HUB_ETAG_TIMEOUT"))) options.connect_timeout = *time;
  if (const auto time = Seconds(Get(getenv, "HF_HUB_DOWNLOAD_TIMEOUT"))) options.timeout = *time;
  options.list_timeout = std::max(options.list_timeout, options.timeout);
  return options;
}

}  // namespace breakwatch::hub
