#include "segments.h"

#include <algorithm>
#include <map>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxValueBytes = 600, kMaxElements = 12, kMaxFacts = 40;

// "relu 3, add 2", most frequent first.
std::string Counts(const std::map<std::string, std::int64_t>& counts) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [name, count] : counts) order.emplace_back(-count, name);
  std::sort(order.begin(), order.end());
  std::string text;
  for (const auto& [count, name] : order) text += (text.empty() ? "" : ", ") + name + " " + std::to_string(-count);
  return text;
}

// Why a graph ended. A site is identified by its number in the list below the table.
std::string EndOf(const GraphSegment& segment, const CaptureResult& capture) {
  if (segment.ended_by.empty()) return "returns";
  for (std::size_t i = 0; i < capture.sites.size(); ++i) {
    if (capture.sites[i].site_id == segment.ended_by) {
      return "break " + std::to_string(i + 1) + ": " + capture.sites[i].reason;
    }
  }
  return "a break at site " + segment.ended_by;
}

std::string PlaceOf(const GraphSegment& segment) {
  std::string text = segment.file;
  return segment.line > 0 ? text + ":" + std::to_string(segment.line) : text;
}

Cell Number(const std::optional<std::int64_t>& value) { return value ? Cell(*value) : Cell(); }

// Formats a value in one line: texts without quotes, lists and objects one level deep, other values as JSON.
std::string Short(const Json& value, int depth) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured() || depth == 0) return JsonText(value);
  std::string text;
  std::size_t count = 0;
  for (const auto& [key, element] : value.items()) {
    if (count++ == kMaxElements) {
      text += ", and " + std::to_string(value.size() - kMaxElements) + " more";
      break;
    }
    text += (text.empty() ? "" : ", ") + (value.is_object() ? key + " " : "") +
            Short(element, element.is_array() ? 0 : depth - 1);
  }
  return text.empty() ? "none" : text;
}

std::string InputText(const std::string& name, const Json& value) {
  if (value.is_object() && value.contains("shape") && value["shape"].is_array()) {
    const Json dtype = value.value("dtype", Json());
    std::string shape;
    for (const Json& size : value["shape"]) shape += (shape.empty() ? "" : ", ") + JsonText(size);
    return name + (dtype.is_string() ? " " + dtype.get<std::string>() : "") + " [" + shape + "]";
  }
  return name + " " + Short(value, 1);
}

}  // namespace

bool HasOpsOfAnotherRun(const CaptureResult& c) {
  if (!c.ops_captured) return false;
  if (!c.ops_depth.empty()) return c.ops_depth != c.depth;
  if (c.depth != "full" || c.segments.empty()) return false;
  // Older workers do not report ops_depth. In a single run, the sum over the graphs equals ops_captured.
  std::int64_t sum = 0;
  for (const GraphSegment& segment : c.segments) sum += segment.ops_total.value_or(0);
  return sum != *c.ops_captured;
}

Table SegmentTable(const CaptureResult& capture, std::size_t limit) {
  Table table{.title = {},
              .columns = {{"graph", "GRAPH", true},
                          {"compile_id", "COMPILE"},
                          {.name = "place", .title = "BEGINS AT", .widest = 64, .keep_end = true},
                          {"file", ""},
                          {"line", "", true},
                          {"function", "IN", false, 32},
                          {"ops_total", "OPS", true},
                          {"ops", "BY KIND", false, 44},
                          {"top_ops", ""},
                          {"inputs", "INPUTS", true},
                          {"guards", "GUARDS", true},
                          {"ended_by", ""},
                          {"end", "ENDS WITH", false, 60}},
              .rows = {},
              .when_empty = "no graphs recorded"};
  for (const GraphSegment& s : capture.segments) {
    if (limit != 0 && table.rows.size() == limit) break;
    table.rows.push_back({Cell(std::int64_t{s.index} + 1), s.compile_id, PlaceOf(s), s.file,
                          s.line > 0 ? Cell(std::int64_t{s.line}) : Cell(), s.function, Number(s.ops_total),
                          Counts(s.ops), Counts(s.top_ops), Number(s.inputs), Number(s.guards), s.ended_by,
                          EndOf(s, capture)});
  }
  return table;
}

std::string InputsText(const std::string& inputs_json) {
  const Json inputs = Json::parse(inputs_json, nullptr, /*allow_exceptions=*/false);
  if (!inputs.is_object()) return inputs_json;
  std::string text;
  for (const auto& [name, value] : inputs.items()) text += (text.empty() ? "" : "; ") + InputText(name, value);
  return text;
}

std::vector<Fact> ModeFacts(const std::string& mode_detail_json) {
  std::vector<Fact> facts;
  const Json detail = Json::parse(mode_detail_json, nullptr, /*allow_exceptions=*/false);
  if (!detail.is_object()) return facts;
  for (const auto& [key, value] : detail.items()) {
    if (facts.size() == kMaxFacts) break;
    if (!value.is_null()) facts.emplace_back(key, Truncate(Short(value, 2), kMaxValueBytes));
  }
  return facts;
}

}  // namespace breakwatch::report
