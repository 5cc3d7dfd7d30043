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

}  // namespace

Expected NotEmpty(const std::string& text) {
  if (!text.empty()) return std::nullopt;
  return "a text that is not empty";
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
