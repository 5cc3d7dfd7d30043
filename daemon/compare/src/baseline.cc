#include "breakwatch/compare/baseline.h"

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "breakwatch/core/status.h"

namespace breakwatch::compare {
namespace {

constexpr std::string_view kVersion = "# breakwatch baseline 1";
constexpr std::string_view kColumns[] = {"model",           "mode",       "status",       "breaks", "break_sites",
                                         "frames_fallback", "recompiles", "ops_captured", "depth",  "class",
                                         "params",          "commit",     "inputs",       "sites"};
constexpr std::size_t kColumnCount = std::size(kColumns);

using Key = std::pair<std::string, std::string>;  // model, mode
Key KeyOf(const ModelResult& result) { return {result.info.id, result.capture.mode}; }

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\\\";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += ' ';
    else
      out += c;
  }
  return out;
}

std::string Unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c;
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
    text += (text.empty() ? "" : ",") + id + ":" + std::to_string(entry.first) + ":" + entry.second;
  }
  return text;
}

std::string LineOf(const ModelResult& r) {
  const CaptureResult& c = r.capture;
  const bool numbers = HasNumbers(c.status);
  const auto number = [&](const std::optional<std::int64_t>& value) { return numbers ? NumberText(value) : ""; };
  const std::string fields[kColumnCount] = {r.info.id,
                                            c.mode,
                                            std::string(StatusName(c.status)),
                                            number(c.breaks),
                                            number(c.break_sites),
                                            number(c.frames_fallback),
                                            number(c.recompiles),
                                            number(c.ops_captured),
                                            numbers ? c.depth : "",
                                            c.architecture,
                                            number(c.params),
                                            r.info.sha.substr(0, 12),
                                            numbers ? c.inputs_digest : "",
                                            numbers ? SitesText(c) : ""};
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : "\t") + Escaped(field);
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
  Split(line, '\t', [&](std::string_view field) { fields.push_back(Unescaped(field)); });
  if (fields.size() != kColumnCount) {
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
  Split(fields[13], ',', [&](std::string_view text) {
    if (text.empty() || !wrong.empty()) return;
    std::vector<std::string> parts;
    Split(text, ':', [&](std::string_view part) { parts.emplace_back(part); });
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
  std::string text =
      std::string(kVersion) + "\n# Written by `breakwatch baseline update`. Review and commit it.\n" + Header() + "\n";
  for (const auto& [key, result] : sorted) text += LineOf(*result);
  return text;
}

Result<std::vector<ModelResult>> ParseBaseline(const std::string& path, std::string_view text) {
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
  if (error) return *error;
  std::vector<ModelResult> out;
  for (auto& [key, result] : results) out.push_back(std::move(result));
  return out;
}

std::vector<ModelResult> UpdateBaseline(std::span<const ModelResult> old, std::span<const ModelResult> sweep,
                                        bool keep_others) {
  std::map<Key, const ModelResult*> merged;
  std::set<Key> of_sweep;
  for (const ModelResult& result : sweep) of_sweep.insert(KeyOf(result));
  for (const ModelResult& result : old) {
    if (keep_others || of_sweep.contains(KeyOf(result))) merged[KeyOf(result)] = &result;
  }
  for (const ModelResult& result : sweep) {
    if (IsLasting(result)) merged[KeyOf(result)] = &result;
  }
  std::vector<ModelResult> out;
  for (const auto& [key, result] : merged) out.push_back(*result);
  return out;
}

}  // namespace breakwatch::compare
