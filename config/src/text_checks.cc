#include "text_checks.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/host_port.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"

namespace breakwatch::config {
namespace {

bool HasBlankOrControl(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7F; });
}

bool IsNameCharacter(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool HasPort(const std::string& text) {
  const auto address = ParseHostPort(text);
  return address && address->port;
}

std::optional<std::string> PercentDecoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const char *begin = text.data() + at + 1, *end = begin + 2;
    unsigned byte = 0;
    if (at + 2 >= text.size() || std::from_chars(begin, end, byte, 16).ptr != end) return std::nullopt;
    out += static_cast<char>(byte);
    at += 2;
  }
  return out;
}

}  // namespace

Expected NotEmpty(const std::string& text) {
  if (!text.empty()) return std::nullopt;
  return "a text that is not empty";
}

Expected OtlpProtocol(const std::string& text) {
  const bool known = text.empty() || text == "http/protobuf" || text == "http/json";
  return known ? Expected() : "http/protobuf or http/json, or empty";
}

Expected OtlpCompression(const std::string& text) {
  return text.empty() || text == "gzip" || text == "none" ? Expected() : "gzip or none, or empty";
}

Expected HttpUrl(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::string expected = "a URL such as http://host:9091";
  const std::size_t scheme = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  if (scheme == 0 || HasBlankOrControl(text)) return expected;
  const std::string authority = text.substr(scheme, text.find('/', scheme) - scheme);
  if (authority.find('@') != std::string::npos)
    return "a URL without a user; username and password_file have their own keys";
  if (text.find_first_of("?#") != std::string::npos) return "a URL without query and fragment";
  if (!ParseHostPort(authority)) return expected;
  return std::nullopt;
}

Expected StoreUrlText(const std::string& text) {
  if (text.empty() || text.starts_with("postgresql://") || text.starts_with("postgres://")) return std::nullopt;
  if (text.starts_with("sqlite:") && text.size() > 7) return std::nullopt;
  return "sqlite:PATH or postgresql://HOST/DATABASE";
}

Expected ListenAddress(const std::string& text) {
  if (!HasBlankOrControl(text) && HasPort(text)) return std::nullopt;
  return "HOST:PORT such as 127.0.0.1:9723 (0.0.0.0 for every interface)";
}

Expected Name(const std::string& text) {
  if (!text.empty() && text.size() <= 63 && std::all_of(text.begin(), text.end(), IsNameCharacter)) return std::nullopt;
  return R"(1 to 63 letters, digits, "_", "-" or ".")";
}

Expected NameOrEmpty(const std::string& text) { return text.empty() ? std::nullopt : Name(text); }

Expected NamedPython(const std::string& text) {
  const ToolchainRef toolchain = ParseToolchainRef(text);
  if (!Name(toolchain.name) && !toolchain.python.empty()) return std::nullopt;
  return "NAME=PYTHON such as old=.venv-old/bin/python";
}

Expected MetricName(const std::string& text) {
  constexpr std::string_view kPrefixes[] = {"compile_", "breakwatch_"};
  const bool ours = std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                                [&](std::string_view prefix) { return text.starts_with(prefix); });
  const bool plain = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  if (ours && plain) return std::nullopt;
  return "the name of a metric, as in compile_graphs or breakwatch_model_rank";
}

Expected ToolchainMode(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const bool known_mode = slash == text.size() || IsMode(text.substr(slash + 1));
  if (known_mode && !Name(text.substr(0, slash))) return std::nullopt;
  return "the name of a toolchain, alone or with a mode after it as in NAME/train";
}

Expected BatchSize(const std::string& text) {
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc() && end == text.data() + text.size() && size >= 1 && size <= 65'536) return std::nullopt;
  return "a batch size from 1 to 65536";
}

Expected OneLine(const std::string& text) {
  const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
  if (!text.empty() && text.size() <= 128 && !control) return std::nullopt;
  return "1 to 128 printable characters";
}

Expected OneLineOrEmpty(const std::string& text) { return text.empty() ? std::nullopt : OneLine(text); }

Expected ExternalLabel(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string name = text.substr(0, equals);
  if (name == "job" || name == "instance" || name == "pool") return "another label: " + name + " has its own key";
  const bool is_name =
      !name.empty() && name.size() <= 63 && !name.starts_with("__") && !IsDigit(name.front()) &&
      std::all_of(name.begin(), name.end(), [](char c) { return IsNameCharacter(c) && c != '-' && c != '.'; });
  if (is_name && equals < text.size() && !OneLine(text.substr(equals + 1))) return std::nullopt;
  return "NAME=VALUE such as cluster=eu-1";
}

Expected HttpHeader(const std::string& text) {
  constexpr std::string_view kOurs[] = {"authorization", "content-encoding", "content-length", "content-type",
                                        "host",          "user-agent"};
  const std::size_t colon = std::min(text.find(": "), text.size());
  const std::string name = text.substr(0, colon);
  if (std::ranges::find(kOurs, Lower(name)) != std::end(kOurs)) return "another header: " + name + " is set already";
  const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), IsNameCharacter);
  if (is_name && colon < text.size() && !OneLine(text.substr(colon + 2))) return std::nullopt;
  return "NAME: VALUE such as X-Group: ml";
}

Expected NameValue(const std::string& text) {
  const auto equals = text.find('=');
  const bool control = std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
  if (equals != std::string::npos && equals > 0 && equals <= 255 && text.size() <= 4096 && !control)
    return std::nullopt;
  return "NAME=VALUE such as deployment.environment.name=prod";
}

Expected HeaderPairs(const std::string& text) {
  const auto pairs = NameValuePairs(text);
  for (const auto& [name, value] : pairs.value_or(std::vector<std::pair<std::string, std::string>>())) {
    if (IsOfFraming(name)) return "other headers: every request has its own " + Lower(name);
  }
  const bool fits = pairs && std::all_of(pairs->begin(), pairs->end(), [](const auto& pair) {
                      return IsHeaderName(pair.first) && IsHeaderValue(pair.second);
                    });
  if (fits) return std::nullopt;
  return "headers as NAME=VALUE,NAME=VALUE with percent-encoded values";
}

std::optional<std::vector<std::pair<std::string, std::string>>> NameValuePairs(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const std::string_view entry = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), entry.size() + 1));
    if (Trim(entry).empty()) continue;
    const std::size_t equals = entry.find('=');
    if (equals == entry.npos) return std::nullopt;
    const std::string_view name = Trim(entry.substr(0, equals));
    auto value = PercentDecoded(Trim(entry.substr(equals + 1)));
    if (name.empty() || !value) return std::nullopt;
    pairs.emplace_back(name, *std::move(value));
  }
  return pairs;
}

bool IsOfFraming(std::string_view name) {
  constexpr std::string_view kOfFraming[] = {
      "connection", "content-encoding", "content-length", "content-type", "expect", "host", "transfer-encoding"};
  return std::ranges::find(kOfFraming, Lower(name)) != std::end(kOfFraming);
}

bool IsHeaderName(std::string_view text) {
  constexpr std::string_view kToken = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && text.size() <= 255 && text.find_first_not_of(kToken) == text.npos;
}

bool IsHeaderValue(std::string_view text) {
  return text.size() <= 8192 &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7F; });
}

std::optional<Span> PasswordIn(const std::string& url) {
  const auto scheme = url.find("://");
  if (scheme == std::string::npos) return std::nullopt;
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t at = url.substr(0, end).rfind('@');
  const std::size_t colon = url.find(':', begin);
  if (at != std::string::npos && at >= begin && colon < at) return Span{colon + 1, at - colon - 1};
  constexpr std::string_view kParameter = "password=";
  const std::size_t parameter = url.find(kParameter, end);
  if (parameter == std::string::npos) return std::nullopt;
  const std::size_t value = parameter + kParameter.size();
  return Span{value, std::min(url.find('&', value), url.size()) - value};
}

}  // namespace breakwatch::config
