#include "loki/fake_loki.h"

#include <zlib.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace breakwatch::fakes {
namespace {

using nlohmann::json;
using testing::Reply;
using testing::SeenRequest;

constexpr std::size_t kMaxQueryEntries = 5000;

std::optional<std::string> Gunzip(const std::string& bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return std::nullopt;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  int code = Z_OK;
  while (code == Z_OK) {
    char chunk[65536];
    stream.next_out = reinterpret_cast<Bytef*>(chunk);
    stream.avail_out = sizeof chunk;
    code = inflate(&stream, Z_NO_FLUSH);
    out.append(chunk, sizeof chunk - stream.avail_out);
  }
  inflateEnd(&stream);
  return code == Z_STREAM_END ? std::optional(out) : std::nullopt;
}

// Throws what json throws, and std::invalid_argument, on anything that the push API does not describe.
LokiEntry ParseEntry(const json& value) {
  if (!value.is_array() || value.size() < 2 || value.size() > 3) throw std::invalid_argument("entry");
  LokiEntry entry;
  entry.ts_ns = std::stoll(value[0].get<std::string>());
  entry.line = value[1].get<std::string>();
  if (value.size() == 3) entry.metadata = value[2].get<Labels>();
  return entry;
}

std::vector<LokiStreamPush> ParsePush(const std::string& body) {
  std::vector<LokiStreamPush> push;
  const json document = json::parse(body);
  for (const json& stream : document.at("streams")) {
    push.push_back({stream.at("stream").get<Labels>(), {}});
    for (const json& value : stream.at("values")) push.back().entries.push_back(ParseEntry(value));
  }
  return push;
}

// A selector of equal labels only: {a="b", c="d"}.
Labels ParseSelector(const std::string& text) {
  Labels labels;
  for (std::size_t at = text.find('{'); (at = text.find_first_not_of("{, ", at)) != text.npos && text[at] != '}';) {
    const auto equal = text.find("=\"", at), end = text.find('"', equal + 2);
    if (equal == text.npos || end == text.npos) throw std::invalid_argument("parse error at line 1: syntax error");
    labels[text.substr(at, equal - at)] = text.substr(equal + 2, end - equal - 2);
    at = end + 1;
  }
  return labels;
}

std::string QueryValue(const SeenRequest& request, const char* name, const char* otherwise) {
  const auto values = request.Query(name);
  return values.empty() ? otherwise : values.front();
}

template <class Field>
void Set(const json& limits, const char* name, Field& field) {
  if (limits.contains(name)) field = limits[name].get<Field>();
}

}  // namespace

FakeLoki::FakeLoki(LokiLimits limits)
    : store_(std::move(limits)), server_([this](const SeenRequest& r) { return Answer(r); }) {}

std::size_t FakeLoki::Pushes() const {
  const std::lock_guard lock(mutex_);
  return pushes_;
}

std::map<std::string, std::vector<LokiEntry>> FakeLoki::Streams() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::vector<LokiEntry>> streams;
  for (auto& [labels, entries] : store_.Streams()) streams[json(labels).dump()] = entries;
  return streams;
}

std::vector<LokiEntry> FakeLoki::Entries() const {
  std::vector<LokiEntry> all;
  for (const auto& [labels, entries] : Streams()) all.insert(all.end(), entries.begin(), entries.end());
  return all;
}

void FakeLoki::AnswerNext(Reply reply) {
  const std::lock_guard lock(mutex_);
  faults_.push_back({std::move(reply), false});
}

void FakeLoki::LoseNext(Reply reply) {
  const std::lock_guard lock(mutex_);
  faults_.push_back({std::move(reply), true});
}

Reply FakeLoki::Answer(const SeenRequest& request) {
  const std::lock_guard lock(mutex_);
  if (request.Path() == "/ready") return {200, {}, "ready\n"};
  if (request.Path() == "/control") return Control(request);
  if (request.method == "GET" && request.Path() == "/loki/api/v1/query_range") return Query(request);
  ++pushes_;
  if (store_.limits().away) return {.hang_up = true};
  if (faults_.empty()) return Push(request);
  const Fault fault = faults_.front();
  faults_.pop_front();
  if (fault.handles) Push(request);
  return fault.reply;
}

Reply FakeLoki::Push(const SeenRequest& request) {
  const LokiLimits& limits = store_.limits();
  if (request.method != "POST" || request.Path() != "/loki/api/v1/push") return {404, {}, "404 page not found"};
  if (!limits.tenant.empty() && request.Header("x-scope-orgid") != limits.tenant) return {401, {}, "no org id"};
  const auto body = request.Header("content-encoding") == "gzip" ? Gunzip(request.body) : std::optional(request.body);
  if (!body || request.Header("content-type") != "application/json") return {400, {}, "cannot read the body"};
  if (body->size() > limits.max_body_bytes) {
    return {413,
            {},
            "request body too large: " + std::to_string(body->size()) +
                " bytes, limit: " + std::to_string(limits.max_body_bytes) + " bytes"};
  }
  try {
    const LokiAnswer answer = store_.Push(ParsePush(*body));
    return {answer.status, {}, answer.text.empty() ? "" : answer.text + "\n"};
  } catch (const std::exception& error) {
    return {400, {}, std::string("couldn't parse push request: ") + error.what() + "\n"};
  }
}

Reply FakeLoki::Query(const SeenRequest& request) {
  if (!store_.limits().may_query) return {403, {}, "forbidden"};
  try {
    const std::size_t limit = std::stoull(QueryValue(request, "limit", "100"));
    if (limit > kMaxQueryEntries) {
      return {400,
              {},
              "max entries limit per query exceeded, limit > max_entries_limit_per_query (" + std::to_string(limit) +
                  " > " + std::to_string(kMaxQueryEntries) + ")\n"};
    }
    const auto found =
        store_.Query(ParseSelector(QueryValue(request, "query", "{}")), std::stoll(QueryValue(request, "start", "0")),
                     std::stoll(QueryValue(request, "end", "9223372036854775807")), limit);
    // Loki returns metadata as labels of the stream.
    std::map<Labels, json> streams;
    for (const auto& [labels, entry] : found) {
      Labels all = labels;
      all.insert(entry.metadata.begin(), entry.metadata.end());
      streams[all].push_back({std::to_string(entry.ts_ns), entry.line});
    }
    json result = json::array();
    for (const auto& [labels, values] : streams) result.push_back({{"stream", labels}, {"values", values}});
    return {200,
            {{"Content-Type", "application/json"}},
            json{{"status", "success"}, {"data", {{"resultType", "streams"}, {"result", result}}}}.dump()};
  } catch (const std::exception& error) {
    return {400, {}, error.what()};
  }
}

// {"limits": {...}, "answer": {"status": 500, "text": "..."}, "lose": true}: sets limits, and the answer to the next
// push, which is handled only with "lose".
Reply FakeLoki::Control(const SeenRequest& request) {
  const json control = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
  if (!control.is_object()) return {400, {}, "expected a JSON object"};
  LokiLimits& limits = store_.limits();
  const json of_limits = control.value("limits", json::object());
  Set(of_limits, "max_line_bytes", limits.max_line_bytes);
  Set(of_limits, "allow_metadata", limits.allow_metadata);
  Set(of_limits, "reject_older_than_ns", limits.reject_older_than_ns);
  Set(of_limits, "burst_bytes", limits.burst_bytes);
  Set(of_limits, "blocked", limits.blocked);
  Set(of_limits, "away", limits.away);
  Set(of_limits, "may_query", limits.may_query);
  Set(of_limits, "poison", limits.poison);
  if (control.contains("answer")) {
    const json& answer = control["answer"];
    Reply reply{answer.value("status", 500), {}, answer.value("text", std::string())};
    reply.hang_up = answer.value("hang_up", false);
    faults_.push_back({reply, control.value("lose", false)});
  }
  return {200, {}, json{{"pushes", pushes_}}.dump()};
}

}  // namespace breakwatch::fakes
