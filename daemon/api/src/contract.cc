#include "contract.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "breakwatch/core/choices.h"
#include "breakwatch/core/text.h"
#include "contract_data.h"
#include "quoted.h"

namespace breakwatch::api {
namespace {

using nlohmann::json;

const json& Resolved(const json& document, const json& node) {
  if (!node.contains("$ref")) return node;
  return document.at(json::json_pointer(node["$ref"].get<std::string>().substr(1)));
}

std::vector<std::string> Segments(std::string_view path) {
  std::vector<std::string> segments;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at + 1), path.size());
    segments.emplace_back(path.substr(at + 1, end - at - 1));
    at = end;
  }
  return segments;
}

Parameter::Type TypeOf(const json& schema) {
  const std::string type = schema.value("type", "string");
  if (type == "integer") return Parameter::Type::kInteger;
  if (type == "boolean") return Parameter::Type::kFlag;
  return schema.value("format", "") == "date" ? Parameter::Type::kDay : Parameter::Type::kText;
}

Parameter ReadParameter(const json& document, const json& node) {
  const json& schema = Resolved(document, node["schema"]);
  Parameter out;
  out.name = node["name"];
  out.in_query = node["in"] == "query";
  out.required = node.value("required", false);
  out.type = TypeOf(schema);
  if (schema.contains("default")) {
    const json& fallback = schema["default"];
    out.fallback = fallback.is_string() ? fallback.get<std::string>() : fallback.dump();
  }
  if (schema.contains("minimum")) out.minimum = schema["minimum"];
  if (schema.contains("maximum")) out.maximum = schema["maximum"];
  out.min_length = schema.value("minLength", std::size_t{0});
  out.max_length = schema.value("maxLength", std::size_t{0});
  if (schema.contains("enum")) out.values = schema["enum"].get<std::vector<std::string>>();
  if (schema.contains("pattern")) out.pattern = std::regex(schema["pattern"].get<std::string>());
  return out;
}

Operation ReadOperation(const json& document, const std::string& path, std::string method, const json& node) {
  Operation out;
  std::transform(method.begin(), method.end(), method.begin(), [](char c) { return static_cast<char>(c - 'a' + 'A'); });
  out.id = node["operationId"];
  out.method = std::move(method);
  out.path = path;
  out.segments = Segments(path);
  out.needs_token = node.contains("security");
  for (const json& parameter : node.value("parameters", json::array())) {
    const json& resolved = Resolved(document, parameter);
    if (resolved["in"] != "header") out.parameters.push_back(ReadParameter(document, resolved));
  }
  return out;
}

bool IsParameter(const std::string& segment) { return segment.starts_with('{'); }
std::string NameOf(const std::string& segment) { return segment.substr(1, segment.size() - 2); }

// The value of the last segment may contain slashes.
bool TakesSlashes(const std::string& segment) { return segment == "{model}" || segment == "{reason}"; }

std::optional<Arguments> MatchPath(const Operation& operation, const std::string& path) {
  const auto& wanted = operation.segments;
  auto given = Segments(path);
  const bool swallows = !wanted.empty() && TakesSlashes(wanted.back());
  if (swallows && given.size() > wanted.size()) {
    std::string rest = given[wanted.size() - 1];
    for (std::size_t i = wanted.size(); i < given.size(); ++i) rest += "/" + given[i];
    given.resize(wanted.size());
    given.back() = std::move(rest);
  }
  if (given.size() != wanted.size()) return std::nullopt;
  Arguments arguments;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (IsParameter(wanted[i]))
      arguments[NameOf(wanted[i])] = ToUtf8(given[i]);
    else if (given[i] != wanted[i])
      return std::nullopt;
  }
  return arguments;
}

std::size_t CharactersOf(const std::string& utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

Error Wrong(const Parameter& parameter, const std::string& expected, const std::string& value) {
  return {ErrorCode::kUsage, parameter.name + " must be " + expected + ", not " + Quoted(value)};
}

template <class Number>
bool ReadWhole(std::string_view text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

bool IsDay(const std::string& text) {
  int year = 0;
  unsigned month = 0, day = 0;
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  const std::string_view view = text;
  if (!ReadWhole(view.substr(0, 4), year) || !ReadWhole(view.substr(5, 2), month) || !ReadWhole(view.substr(8), day))
    return false;
  return std::chrono::year_month_day{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}}.ok();
}

Result<void> CheckInteger(const Parameter& parameter, const std::string& value) {
  std::int64_t number = 0;
  const bool in_range = ReadWhole(value, number) && number >= parameter.minimum.value_or(INT64_MIN) &&
                        number <= parameter.maximum.value_or(INT64_MAX);
  if (in_range) return {};
  std::string expected = "an integer";
  if (parameter.minimum) expected += " from " + std::to_string(*parameter.minimum);
  if (parameter.maximum) expected += " to " + std::to_string(*parameter.maximum);
  return Wrong(parameter, expected, value);
}

Result<void> CheckText(const Parameter& parameter, const std::string& value) {
  if (!parameter.values.empty()) {
    if (std::find(parameter.values.begin(), parameter.values.end(), value) != parameter.values.end()) return {};
    const std::vector<std::string_view> names(parameter.values.begin(), parameter.values.end());
    return Wrong(parameter, OneOf(names), value);
  }
  const std::size_t length = CharactersOf(value);
  if (length < parameter.min_length)
    return Error{ErrorCode::kUsage,
                 parameter.name + " must not be empty or shorter than " + Counted(parameter.min_length, "character")};
  if (parameter.max_length != 0 && length > parameter.max_length)
    return Error{ErrorCode::kUsage, parameter.name + " is longer than " + Counted(parameter.max_length, "character")};
  if (parameter.pattern && !std::regex_match(value, *parameter.pattern))
    return Error{ErrorCode::kUsage, parameter.name + " is not valid: " + Quoted(value)};
  return {};
}

Result<void> CheckValue(const Parameter& parameter, const std::string& value) {
  switch (parameter.type) {
    case Parameter::Type::kInteger:
      return CheckInteger(parameter, value);
    case Parameter::Type::kFlag:
      if (value != "true" && value != "false") return Wrong(parameter, "true or false", value);
      return {};
    case Parameter::Type::kDay:
      if (!IsDay(value)) return Wrong(parameter, "a day such as 2026-11-21", value);
      return {};
    case Parameter::Type::kText:
      return CheckText(parameter, value);
  }
  return {};
}

Result<void> CheckQueryNames(const Operation& operation, const std::multimap<std::string, std::string>& query) {
  std::vector<std::string> names;
  for (const Parameter& parameter : operation.parameters) {
    if (parameter.in_query) names.push_back(parameter.name);
  }
  for (const auto& [name, value] : query) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      const auto nearest = NearestName(name, names);
      return Error{ErrorCode::kUsage,
                   "unknown parameter " + Quoted(name) + (nearest ? "; did you mean \"" + *nearest + "\"?" : "")};
    }
    if (query.count(name) > 1) return Error{ErrorCode::kUsage, name + " is given more than once"};
  }
  return {};
}

}  // namespace

const Contract& Contract::Get() {
  static const Contract contract;
  return contract;
}

Contract::Contract() {
  const json document = json::parse(kOpenApi);
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, node] : methods.items()) {
      operations_.push_back(ReadOperation(document, path, method, node));
    }
  }
}

Contract::Match Contract::Find(const std::string& method, const std::string& path) const {
  Match match;
  for (const Operation& operation : operations_) {
    auto arguments = MatchPath(operation, path);
    if (!arguments) continue;
    const bool get = operation.method == "GET";
    match.allow += (match.allow.empty() ? "" : ", ") + std::string(get ? "GET, HEAD" : operation.method);
    if (operation.method == method || (get && method == "HEAD")) {
      match.operation = &operation;
      match.path = *std::move(arguments);
    }
  }
  return match;
}

Result<Arguments> CheckArguments(const Operation& operation, const Arguments& path,
                                 const std::multimap<std::string, std::string>& query) {
  if (auto checked = CheckQueryNames(operation, query); !checked) return checked.error();
  Arguments arguments = path;
  for (const Parameter& parameter : operation.parameters) {
    if (const auto given = query.find(parameter.name); parameter.in_query && given != query.end()) {
      arguments[parameter.name] = ToUtf8(given->second);
    } else if (parameter.in_query && parameter.fallback) {
      arguments[parameter.name] = *parameter.fallback;
    } else if (parameter.in_query) {
      if (parameter.required) return Error{ErrorCode::kUsage, "parameter \"" + parameter.name + "\" is required"};
      continue;
    }
    if (auto checked = CheckValue(parameter, arguments[parameter.name]); !checked) return checked.error();
  }
  return arguments;
}

}  // namespace breakwatch::api
