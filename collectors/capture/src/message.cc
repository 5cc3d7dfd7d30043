#include "message.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"

namespace breakwatch::capture {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxSites = 4096;
constexpr std::int64_t kMaxCount = 1'000'000'000'000'000;

Error Invalid(const std::string& message) { return {ErrorCode::kInvalid, message}; }

// The field's text. Empty if it is missing, null or of another type, because these are only displayed or compared.
std::string Text(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return "";
  return Truncate(ToUtf8(found->get_ref<const std::string&>()), 4096);
}

Result<Message> ParseHello(const json& object, std::string_view) {
  const auto protocol = object.find("protocol");
  if (protocol == object.end() || !protocol->is_number_integer()) return Invalid("hello without a protocol number");
  Hello hello;
  hello.protocol = protocol->get<std::int64_t>();
  hello.toolchain.torch = Text(object, "torch");
  hello.toolchain.transformers = Text(object, "transformers");
  hello.toolchain.python = Text(object, "python");
  hello.toolchain.worker = Text(object, "worker");
  if (const std::string device = Text(object, "device"); !device.empty()) hello.toolchain.device = device;
  return Message{std::move(hello)};
}

Result<Message> ParseHeartbeat(const json&, std::string_view) { return Message{Heartbeat{}}; }

Result<Message> ParsePhase(const json& object, std::string_view) {
  return Message{PhaseBegun{Text(object, "job"), Text(object, "phase")}};
}

// The limit also keeps the sums over a capture's sites within 64 bits.
std::optional<Error> WrongCount(const CaptureResult& result) {
  const auto wrong = [](std::int64_t count) { return count < 0 || count > kMaxCount; };
  for (const auto* count :
       {&result.params, &result.graphs, &result.breaks, &result.break_sites, &result.dynamo_counter_breaks,
        &result.unique_reasons, &result.ops_captured, &result.frames_total, &result.frames_fallback, &result.recompiles,
        &result.unexplained_events}) {
    if (wrong(count->value_or(0))) return Error{ErrorCode::kInvalid, "a count of " + std::to_string(**count)};
  }
  // This is graphs minus one, so it is -1 without graphs.
  if (const std::int64_t explained = result.explain_breaks.value_or(0); explained != -1 && wrong(explained)) {
    return Error{ErrorCode::kInvalid, "explain_breaks of " + std::to_string(explained)};
  }
  if (result.sites.size() > kMaxSites) {
    return Error{ErrorCode::kInvalid, std::to_string(result.sites.size()) + " sites, more than the " +
                                          std::to_string(kMaxSites) + " allowed"};
  }
  for (const BreakSite& site : result.sites) {
    if (wrong(site.occurrences))
      return Error{ErrorCode::kInvalid, "occurrences of " + std::to_string(site.occurrences)};
  }
  for (const GraphSegment& segment : result.segments) {
    bool bad = segment.index < 0 || wrong(segment.ops_total.value_or(0)) || wrong(segment.inputs.value_or(0)) ||
               wrong(segment.guards.value_or(0));
    for (const auto* counts : {&segment.ops, &segment.top_ops}) {
      for (const auto& [name, count] : *counts) bad = bad || wrong(count);
    }
    if (bad) return Error{ErrorCode::kInvalid, "segment " + std::to_string(segment.index) + " with an invalid count"};
  }
  return std::nullopt;
}

// Only the daemon sets the other statuses; see PROTOCOL.md.
bool IsAWorkers(Status status) {
  switch (status) {
    case Status::kFailedResolve:
    case Status::kFailedCheck:
    case Status::kWrongResult:
    case Status::kFailedPublish:
    case Status::kWorkerLost:
    case Status::kQuarantined:
    case Status::kSkippedGated:
    case Status::kSkippedDisabled:
    case Status::kSkippedNotFound:
    case Status::kSkippedFiltered:
      return false;
    default:
      return true;
  }
}

Result<Message> ParseResult(const json& object, std::string_view line) {
  if (Text(object, "job").empty()) return Invalid("result without a job");
  Result<CaptureResult> result = CaptureResultFromJson(line);
  if (!result.ok()) return result.error().Within("result");
  if (result->job_id != Text(object, "job")) return Invalid("result of two jobs");  // the name is there twice
  if (auto wrong = WrongCount(*result)) return *wrong;
  if (!result->mode_detail_json.empty() && result->mode_detail_json.front() != '{') {
    return Invalid("result whose mode_detail is not an object");
  }
  if (!IsAWorkers(result->status)) return Invalid("result with the status " + std::string(StatusName(result->status)));
  const bool broken = !result->sites.empty() || result->breaks.value_or(0) > 0;
  if (result->status == Status::kFullGraph && broken) return Invalid("result with breaks, but full_graph");
  return Message{*std::move(result)};
}

Result<Message> ParseError(const json& object, std::string_view) {
  return Message{NotUnderstood{Text(object, "message")}};
}

}  // namespace

Result<Message> ParseMessage(std::string_view line) {
  static const std::map<std::string, Result<Message> (*)(const json&, std::string_view), std::less<>> kParsers = {
      {"hello", ParseHello},   {"heartbeat", ParseHeartbeat}, {"phase", ParsePhase},
      {"result", ParseResult}, {"error", ParseError},
  };
  if (const Result<void> checked = CheckJson(line, kMaxLine, kMaxDepth); !checked.ok()) {
    return checked.error().Within("\"" + Quote(line) + "\"");
  }
  const json object = json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Invalid("\"" + Quote(line) + "\" is not an object");
  const std::string type = Text(object, "type");
  if (type.empty()) return Invalid("\"" + Quote(line) + "\" has no type");
  const auto parser = kParsers.find(type);
  if (parser == kParsers.end()) return Message{OfNewerProtocol{type}};
  return parser->second(object, line);
}

std::string CaptureLine(const CaptureJob& job) {
  std::string line = ToJson(job);
  line.replace(0, 1, "{\"type\":\"capture\"," + (job.is_source ? "\"source\":" + job.config_json + "," : ""));
  // A raw line break is white space in JSON (inside text it is always escaped), but would end our line.
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::replace(line.begin(), line.end(), '\r', ' ');
  return line + '\n';
}

std::string Quote(std::string_view line, std::size_t max) {
  return ShortLine(line, max) + (line.size() > max ? "…" : "");
}

}  // namespace breakwatch::capture
