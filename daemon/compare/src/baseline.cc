#include "breakwatch/compare/baseline.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "breakwatch/core/measured_times.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/status.h"

namespace breakwatch::compare {
namespace {

constexpr std::string_view kVersion = "# breakwatch baseline 1";
constexpr std::string_view kColumns[] = {"model",           "mode",       "status",       "breaks", "break_sites",
                                         "frames_fallback", "recompiles", "ops_captured", "depth",  "class",
                                         "params",          "commit",     "inputs",       "sites"};
constexpr std::size_t kColumnCount = std::size(kColumns);
constexpr char kHexDigits[] = "0123456789abcdef";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // some editors put it first

using Key = std::pair<std::string, std::string>;  // model, mode
Key KeyOf(const ModelResult& result) { return {result.info.id, result.capture.mode}; }

// Also escapes the characters of `separators`.
std::string Escaped(std::string_view text, std::string_view separators = {}) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\')
      out += "\\\\";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\n')
      out += "\\n";
    else if (byte < 0x20 || byte == 0x7f || separators.find(c) != std::string_view::npos)
      out += "\\x" + std::string(1, kHexDigits[byte >> 4]) + kHexDigits[byte & 0xf];
    else
      out += c;
  }
  return out;
}

// The byte that two hexadecimal digits at the beginning of the text name.
std::optional<char> ByteOf(std::string_view text) {
  unsigned value = 0;
  const std::string_view digits = text.substr(0, 2);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 2 || parsed.ptr != digits.data() + 2) return std::nullopt;
  return static_cast<char>(value);
}

std::string Unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    const auto byte = c == 'x' ? ByteOf(text.substr(i + 1)) : std::nullopt;
    if (byte) i += 2;
    out += byte ? *byte : c == 't' ? '\t' : c == 'n' ? '\n' : c;
  }
  return out;
}

std::string NumberText(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : ""; }

std::string SitesText(const CaptureResult& capture) {
  std::map<std::string, std::pair<std::int64_t, std::string>> sites;  // by id: events, gb_id
  for (const BreakSite& site : capture.sites) {
    auto& entry = sites[site.site_id];
    entry.first += site.occurrences, entry.second = site.gb_id;
  }
  std::string text;
  for (const auto& [id, entry] : sites) {
    text += (text.empty() ? "" : ",") + Escaped(id, ",:") + ":" + std::to_string(entry.first) + ":" +
            Escaped(entry.second, ",:");
  }
  return text;
}

// Of a profile or a benchmark.
std::optional<Measured> MeasuredOf(const CaptureResult& capture) {
  if (!IsMeasureMode(capture.mode) || !HasNumbers(capture.status)) return std::nullopt;
  auto measured = ReadMeasured(capture.mode_detail_json);
  return measured ? std::optional(*std::move(measured)) : std::nullopt;
}

std::string LineOf(const ModelResult& r) {
  const CaptureResult& c = r.capture;
  const bool numbers = HasNumbers(c.status);
  const auto number = [&](const std::optional<std::int64_t>& value) { return numbers ? NumberText(value) : ""; };
  const std::string fields[kColumnCount] = {Escaped(r.info.id, r.info.id.starts_with('#') ? "#" : ""),
                                            Escaped(c.mode),
                                            std::string(StatusName(c.status)),
                                            number(c.breaks),
                                            number(c.break_sites),
                                            number(c.frames_fallback),
                                            number(c.recompiles),
                                            number(c.ops_captured),
                                            numbers ? Escaped(c.depth) : "",
                                            Escaped(c.architecture),
                                            number(c.params),
                                            Escaped(r.info.sha.substr(0, 12)),
                                            numbers ? Escaped(c.inputs_digest) : "",
                                            numbers ? SitesText(c) : ""};
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : "\t") + field;
  if (const auto measured = MeasuredOf(c)) line += "\t" + Escaped(TimesJson(*measured));
  return line + "\n";
}

bool IsLasting(const ModelResult& result) { return !IsIncomplete(result.capture.status); }

template <class Take>
void Split(std::string_view text, char separator, const Take& take) {
  while (true) {
    const std::size_t end = text.find(separator);
    take(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// Reads one line. Returns what is wrong with it; empty: nothing.
std::string ParseLine(std::string_view line, ModelResult& out) {
  std::vector<std::string> fields;
  std::string_view sites;  // unescaped after they are split
  Split(line, '\t', [&](std::string_view field) {
    if (fields.size() < kColumnCount) sites = field;
    fields.push_back(Unescaped(field));
  });
  const bool has_times = fields.size() == kColumnCount + 1 && IsMeasureMode(fields[1]);
  if (fields.size() != kColumnCount && !has_times) {
    return "expected " + std::to_string(kColumnCount) + " fields, found " + std::to_string(fields.size());
  }
  CaptureResult& c = out.capture;
  out.info.id = fields[0], c.mode = fields[1];
  if (out.info.id.empty()) return "model must not be empty";
  const auto status = ParseStatus(fields[2]);
  if (!status) return "unknown status \"" + fields[2] + "\"";
  c.status = *status;
  const std::pair<std::size_t, std::optional<std::int64_t>*> numbers[] = {{3, &c.breaks},          {4, &c.break_sites},
                                                                          {5, &c.frames_fallback}, {6, &c.recompiles},
                                                                          {7, &c.ops_captured},    {10, &c.params}};
  for (const auto& [index, value] : numbers) {
    if (fields[index].empty()) continue;
    *value = ParseNumber(fields[index]);
    if (!*value) return std::string(kColumns[index]) + ": \"" + fields[index] + "\" is not a number";
  }
  c.depth = fields[8], c.architecture = fields[9], out.info.sha = fields[11], c.inputs_digest = fields[12];
  std::string wrong;
  if (has_times) {
    c.mode_detail_json = fields.back();
    if (auto measured = ReadMeasured(c.mode_detail_json); !measured) return "times: " + measured.error().message;
  }
  Split(sites, ',', [&](std::string_view text) {
    if (text.empty() || !wrong.empty()) return;
    std::vector<std::string> parts;
    Split(text, ':', [&](std::string_view part) { parts.push_back(Unescaped(part)); });
    const auto events = parts.size() == 3 ? ParseNumber(parts[1]) : std::nullopt;
    if (!events) {
      wrong = "sites: \"" + std::string(text) + "\" is not SITE_ID:EVENTS:GB_ID";
      return;
    }
    BreakSite site;
    site.site_id = parts[0], site.occurrences = *events, site.gb_id = parts[2];
    c.sites.push_back(std::move(site));
  });
  return wrong;
}

std::string Header() {
  std::string line;
  for (const std::string_view column : kColumns) line += (line.empty() ? "" : "\t") + std::string(column);
  return line;
}

}  // namespace

std::string BaselineText(std::span<const ModelResult> results) {
  std::map<Key, const ModelResult*> sorted;
  for (const ModelResult& result : results) {
    if (IsLasting(result)) sorted[KeyOf(result)] = &result;
  }
  std::string text(kVersion);
  text += "\n# Written by `breakwatch baseline update`. Review and commit it.\n";
  text += Header() + "\n";
  for (const auto& [key, result] : sorted) text += LineOf(*result);
  return text;
}

Result<std::vector<ModelResult>> ParseBaseline(const std::string& path, std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::map<Key, ModelResult> results;
  std::optional<Error> error;
  int number = 0;
  bool has_header = false;
  const auto fail = [&](const std::string& why) {
    error = Error{ErrorCode::kConfig, path + ":" + std::to_string(number) + ": " + why};
  };
  Split(text, '\n', [&](std::string_view line) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (error) return;
    if (number == 1 && line != kVersion) return fail("expected \"" + std::string(kVersion) + "\"");
    if (line.empty() || line.front() == '#') return;
    if (!has_header) {
      has_header = true;
      if (line != Header()) fail("expected the column names " + Header());
      return;
    }
    ModelResult result;
    if (const std::string wrong = ParseLine(line, result); !wrong.empty()) return fail(wrong);
    const Key key = KeyOf(result);
    if (!results.emplace(key, std::move(result)).second)
      fail("a second line of " + key.first + " in mode " + key.second);
  });
  // What was cut off would pass for new models, or for fewer sites.
  if (!error && !text.ends_with('\n')) fail("the last line is incomplete: it has no line end");
  if (!error && results.empty()) fail("no results; `breakwatch baseline update` never writes such a file");
  if (error) return *error;
  std::vector<ModelResult> out;
  for (auto& [key, result] : results) out.push_back(std::move(result));
  return out;
}

std::vector<ModelResult> UpdateBaseline(std::span<const ModelResult> old, std::span<const ModelResult> sweep,
                                        bool keep_others) {
  std::map<Key, const ModelResult*> merged;
  std::set<Key> of_sweep;
  std::set<std::string> modes;
  for (const ModelResult& result : sweep) of_sweep.insert(KeyOf(result)), modes.insert(result.capture.mode);
  for (const ModelResult& result : old) {
    const bool stays = keep_others || !modes.contains(result.capture.mode) || of_sweep.contains(KeyOf(result));
    if (stays) merged[KeyOf(result)] = &result;
  }
  for (const ModelResult& result : sweep) {
    if (IsLasting(result)) merged[KeyOf(result)] = &result;
  }
  std::vector<ModelResult> out;
  for (const auto& [key, result] : merged) out.push_back(*result);
  return out;
}

}  // namespace breakwatch::compare
