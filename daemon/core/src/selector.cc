#include "breakwatch/core/selector.h"

#include <algorithm>
#include <cctype>

#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

constexpr std::string_view kPython = "python:", kScript = "script:", kHash = "::", kArguments = " -- ";

Error NotOne(std::string_view id, const std::string& why) {
  constexpr std::size_t kShownBytes = 200;
  return {ErrorCode::kUsage, "\"" + Truncate(ToUtf8(id), kShownBytes) + "\": " + why};
}

// True for names joined by dots, as in a Python import. Such a name is not a path, so it cannot leave a folder.
bool IsDotted(std::string_view text) {
  bool starts = true;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '.') {
      if (starts) return false;
      starts = true;
    } else if (c == '_' || std::isalpha(byte) != 0 || byte >= 0x80 || (!starts && std::isdigit(byte) != 0)) {
      starts = false;
    } else {
      return false;
    }
  }
  return !starts;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (true) {
    const std::size_t start = text.find_first_not_of(' ');
    if (start == text.npos) return words;
    text.remove_prefix(start);
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end);
  }
}

Result<Selector> ParsePython(std::string_view id) {
  const std::string_view rest = id.substr(kPython.size());
  const std::size_t colon = rest.find(':');
  Selector selector;
  selector.module = rest.substr(0, colon);
  if (colon != rest.npos) selector.function = rest.substr(colon + 1);
  if (!IsDotted(selector.module) || !IsDotted(selector.function)) {
    return NotOne(id, "expected python:package.module:function");
  }
  return selector;
}

Result<Selector> ParseScript(std::string_view id) {
  std::string_view rest = id.substr(kScript.size());
  Selector selector;
  selector.kind = Selector::Kind::kScript;
  if (const std::size_t at = rest.find(kArguments); at != rest.npos) {
    selector.arguments = Words(rest.substr(at + kArguments.size()));
    rest = rest.substr(0, at);
  }
  if (const std::size_t at = rest.rfind(kHash); at != rest.npos) {
    selector.hash = rest.substr(at + kHash.size());
    rest = rest.substr(0, at);
    const bool is_hex =
        std::all_of(selector.hash.begin(), selector.hash.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
    if (selector.hash.empty() || !is_hex)
      return NotOne(id, "expected a hash after ::, as `breakwatch discover` prints it");
  }
  selector.file = rest;
  if (selector.file.empty()) return NotOne(id, "expected script:FILE or script:FILE::HASH");
  return selector;
}

}  // namespace

bool IsSelector(std::string_view id) { return id.starts_with(kPython) || id.starts_with(kScript); }

Result<Selector> ParseSelector(std::string_view id) {
  if (id.starts_with(kPython)) return ParsePython(id);
  if (id.starts_with(kScript)) return ParseScript(id);
  return NotOne(id, "expected python:... or script:...");
}

std::string SelectorText(const Selector& selector) {
  if (selector.kind == Selector::Kind::kPython) {
    return std::string(kPython) + selector.module + ":" + selector.function;
  }
  std::string text = std::string(kScript) + selector.file;
  if (!selector.hash.empty()) text.append(kHash).append(selector.hash);
  if (!selector.arguments.empty()) text += " --";
  for (const std::string& argument : selector.arguments) text += " " + argument;
  return text;
}

bool RunsOwnCode(const ModelInfo& info) {
  return (info.config_source == "python" || info.config_source == "script") && IsSelector(info.id);
}

Result<void> RefuseOwnCode(const std::string& id) {
  return NotOne(
      id,
      "it runs your own code in a worker: allow that with --allow-factories (capture.allow_factories, of the daemon "
      "if one runs)");
}

}  // namespace breakwatch
