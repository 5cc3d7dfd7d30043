#include "loki/fake_loki.h"

#include <zlib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace breakwatch::fakes {
namespace {

using nlohmann::json;
using testing::Reply;
using testing::SeenRequest;

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
  if (value.size() == 3) entry.metadata = value[2].get<std::map<std::string, std::string>>();
  return entry;
}

}  // namespace

FakeLoki::FakeLoki(LokiLimits limits)
    : limits_(std::move(limits)),
      burst_left_(limits_.burst_bytes),
      server_([this](const SeenRequest& r) { return Push(r); }) {}

std::map<std::string, std::vector<LokiEntry>> FakeLoki::Streams() const {
  const std::lock_guard lock(mutex_);
  return streams_;
}

std::vector<LokiEntry> FakeLoki::Entries() const {
  std::vector<LokiEntry> all;
  for (const auto& [labels, entries] : Streams()) all.insert(all.end(), entries.begin(), entries.end());
  return all;
}

void FakeLoki::Refill() {
  const std::lock_guard lock(mutex_);
  burst_left_ = limits_.burst_bytes;
}

void FakeLoki::Unblock() {
  const std::lock_guard lock(mutex_);
  limits_.blocked = false;
}

void FakeLoki::AnswerNext(Reply reply) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(std::move(reply));
}

std::optional<std::string> FakeLoki::Complaint(const std::string& stream, const LokiEntry& entry) const {
  const auto at = " for stream " + stream + " at " + std::to_string(entry.ts_ns);
  if (entry.line.size() > limits_.max_line_bytes) return "max entry size exceeded" + at;
  std::size_t metadata_bytes = 0;
  for (const auto& [name, value] : entry.metadata) metadata_bytes += name.size() + value.size();
  if (metadata_bytes > limits_.max_metadata_bytes || entry.metadata.size() > limits_.max_metadata_entries) {
    return "structured metadata is too large" + at;
  }
  if (entry.ts_ns < limits_.now_ns - limits_.reject_older_than_ns) return "timestamp too old" + at;
  if (entry.ts_ns > limits_.now_ns + limits_.grace_ns) return "timestamp too new" + at;
  const auto known = streams_.find(stream);
  if (known == streams_.end()) return std::nullopt;
  std::int64_t newest = 0;
  for (const LokiEntry& other : known->second) newest = std::max(newest, other.ts_ns);
  if (entry.ts_ns < newest - limits_.too_far_behind_ns) return "entry too far behind" + at;
  return std::nullopt;
}

void FakeLoki::Store(const std::string& stream, const LokiEntry& entry) {
  auto& entries = streams_[stream];
  if (std::find(entries.begin(), entries.end(), entry) == entries.end()) entries.push_back(entry);
}

Reply FakeLoki::Push(const SeenRequest& request) {
  const std::lock_guard lock(mutex_);
  if (!answers_.empty()) {
    Reply reply = answers_.front();
    answers_.erase(answers_.begin());
    return reply;
  }
  if (request.method != "POST" || request.Path() != "/loki/api/v1/push") return {404, {}, "404 page not found"};
  if (!limits_.tenant.empty() && request.Header("x-scope-orgid") != limits_.tenant) return {401, {}, "no org id"};
  if (limits_.blocked) return {260, {}, "ingestion blocked for user"};
  const auto body = request.Header("content-encoding") == "gzip" ? Gunzip(request.body) : std::optional(request.body);
  if (!body || request.Header("content-type") != "application/json") return {400, {}, "cannot read the body"};
  if (body->size() > limits_.max_body_bytes) return {413, {}, "Request body too large"};
  std::vector<std::pair<std::string, LokiEntry>> entries;
  try {
    const json push = json::parse(*body);
    for (const json& stream : push.at("streams")) {
      const auto labels = stream.at("stream").get<std::map<std::string, std::string>>();
      if (labels.empty() || labels.size() > limits_.max_label_names) return {400, {}, "wrong number of labels"};
      for (const auto& [name, value] : labels) {
        if (name.size() > limits_.max_label_name_bytes || value.size() > limits_.max_label_value_bytes) {
          return {400, {}, "label too long"};
        }
      }
      for (const json& value : stream.at("values")) entries.emplace_back(stream.at("stream").dump(), ParseEntry(value));
    }
  } catch (const std::exception& error) {
    return {400, {}, std::string("couldn't parse push request: ") + error.what()};
  }
  std::size_t bytes = 0;
  for (const auto& [stream, entry] : entries) bytes += entry.line.size();
  if (bytes > burst_left_) return {429, {}, "ingestion rate limit exceeded"};
  burst_left_ -= bytes;
  std::optional<std::string> first_complaint;
  for (const auto& [stream, entry] : entries) {
    if (const auto complaint = Complaint(stream, entry)) {
      if (!first_complaint) first_complaint = complaint;
    } else {
      Store(stream, entry);
    }
  }
  return first_complaint ? Reply{400, {}, *first_complaint} : Reply{204};
}

}  // namespace breakwatch::fakes
