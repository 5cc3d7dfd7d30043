#include "loki/loki_store.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace breakwatch::fakes {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::string Format(std::int64_t ns, const char* format) {
  const std::time_t seconds = static_cast<std::time_t>(ns / kSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &parts)};
}

// Go's time.RFC3339: to the second.
std::string Rfc3339(std::int64_t ns) { return Format(ns, "%Y-%m-%dT%H:%M:%SZ"); }

// Go's Time.String().
std::string GoTime(std::int64_t ns) {
  std::string text = Format(ns, "%Y-%m-%d %H:%M:%S");
  if (ns % kSecond != 0) {
    char fraction[16];
    std::snprintf(fraction, sizeof fraction, ".%09lld", static_cast<long long>(ns % kSecond));
    std::string digits = fraction;
    digits.erase(digits.find_last_not_of('0') + 1);
    text += digits;
  }
  return text + " +0000 UTC";
}

std::string StreamText(const Labels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) text += (text.empty() ? "" : ", ") + name + "=\"" + value + "\"";
  return "{" + text + "}";
}

std::size_t MetadataBytes(const LokiEntry& entry) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : entry.metadata) bytes += name.size() + value.size();
  return bytes;
}

std::size_t Bytes(const LokiEntry& entry) { return entry.line.size() + MetadataBytes(entry); }

std::size_t Bytes(const std::vector<LokiEntry>& entries) {
  std::size_t bytes = 0;
  for (const LokiEntry& entry : entries) bytes += Bytes(entry);
  return bytes;
}

// As Loki's errors of one push are joined: equal ones once, with their number.
std::string Grouped(const std::vector<std::string>& errors) {
  std::map<std::string, int> counts;
  for (const std::string& error : errors) ++counts[error];
  std::string text;
  for (const auto& [error, count] : counts) {
    if (!text.empty()) text += "; ";
    if (counts.size() > 1 || count > 1) text += std::to_string(count) + " errors like: ";
    text += error;
  }
  return text;
}

std::string Quoted(std::size_t number) { return "'" + std::to_string(number) + "'"; }

}  // namespace

LokiStore::LokiStore(LokiLimits limits) : limits_(std::move(limits)) { Refill(); }

std::int64_t LokiStore::Now() const {
  if (limits_.clock) return limits_.clock();
  if (limits_.now_ns != 0) return limits_.now_ns;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool LokiStore::Bucket::Take(std::size_t bytes, double rate, std::size_t burst, std::int64_t now_ns) {
  const double gained = static_cast<double>(now_ns - at_ns) / kSecond * rate;
  tokens = std::min(static_cast<double>(burst), tokens + std::max(0.0, gained));
  at_ns = now_ns;
  if (static_cast<double>(bytes) > tokens) return false;
  tokens -= static_cast<double>(bytes);
  return true;
}

void LokiStore::Refill() {
  rate_ = {static_cast<double>(limits_.burst_bytes), Now()};
  for (auto& [labels, stream] : streams_) stream.rate = {static_cast<double>(limits_.stream_burst_bytes), Now()};
}

void LokiStore::CutBlocks() {
  for (auto& [labels, stream] : streams_) stream.block.clear(), stream.block_bytes = 0;
}

std::optional<std::string> LokiStore::LabelError(const Labels& labels) const {
  const std::string stream = StreamText(labels);
  if (labels.empty()) return "error at least one label pair is required per stream";
  const std::size_t names = labels.size() - labels.count("service_name");
  if (names > limits_.max_label_names) {
    return "entry for stream '" + stream + "' has " + std::to_string(names) + " label names; limit " +
           std::to_string(limits_.max_label_names);
  }
  for (const auto& [name, value] : labels) {
    if (name.size() > limits_.max_label_name_bytes)
      return "stream '" + stream + "' has label name too long: '" + name + "'";
    if (value.size() > limits_.max_label_value_bytes)
      return "stream '" + stream + "' has label value too long: '" + value + "'";
  }
  return std::nullopt;
}

// The order of the checks is Loki's: only the first error of an entry is reported.
std::optional<std::string> LokiStore::EntryError(const std::string& stream, const LokiEntry& entry) const {
  const std::int64_t oldest = Now() - limits_.reject_older_than_ns;
  if (entry.ts_ns < oldest) {
    return "entry for stream '" + stream + "' has timestamp too old: " + Rfc3339(entry.ts_ns) +
           ", oldest acceptable timestamp is: " + Rfc3339(oldest);
  }
  if (entry.ts_ns > Now() + limits_.grace_ns)
    return "entry for stream '" + stream + "' has timestamp too new: " + Rfc3339(entry.ts_ns);
  if (entry.line.size() > limits_.max_line_bytes) {
    return "Max entry size " + Quoted(limits_.max_line_bytes) + " bytes exceeded for stream '" + stream +
           "' while adding an entry with length " + Quoted(entry.line.size()) + " bytes";
  }
  if (entry.metadata.empty()) return std::nullopt;
  if (!limits_.allow_metadata) {
    return "stream '" + stream +
           "' includes structured metadata, but this feature is disallowed. Please see "
           "`limits_config.allow_structured_metadata` or contact your Loki administrator to enable it.";
  }
  if (const std::size_t bytes = MetadataBytes(entry); bytes > limits_.max_metadata_bytes) {
    return "stream '" + stream + "' has structured metadata too large: " + Quoted(bytes) +
           " bytes, limit: " + Quoted(limits_.max_metadata_bytes) +
           " bytes. Please see `limits_config.max_structured_metadata_size` or contact your Loki administrator to "
           "increase it.";
  }
  if (entry.metadata.size() > limits_.max_metadata_entries) {
    return "stream '" + stream + "' has too many structured metadata labels: " + Quoted(entry.metadata.size()) +
           ", limit: " + Quoted(limits_.max_metadata_entries) +
           ". Please see `limits_config.max_structured_metadata_entries_count` or contact your Loki administrator to "
           "increase it.";
  }
  return std::nullopt;
}

LokiAnswer LokiStore::Push(const std::vector<LokiStreamPush>& push) {
  if (limits_.blocked)
    return {260, "ingestion blocked for user " + User() + " until '2030-01-01T00:00:00Z' with status code '260'"};
  std::vector<std::string> errors;
  std::vector<LokiStreamPush> valid;
  std::size_t lines = 0, bytes = 0;
  bool poisoned = false;
  for (const LokiStreamPush& stream : push) {
    if (const auto error = LabelError(stream.labels)) {
      errors.push_back(*error);
      continue;
    }
    LokiStreamPush good{stream.labels, {}};
    for (const LokiEntry& entry : stream.entries) {
      if (const auto error = EntryError(StreamText(stream.labels), entry)) {
        errors.push_back(*error);
      } else if (!limits_.poison.empty() && entry.line.find(limits_.poison) != std::string::npos) {
        poisoned = true;
      } else {
        good.entries.push_back(entry);
      }
    }
    lines += good.entries.size(), bytes += Bytes(good.entries);
    if (!good.entries.empty()) valid.push_back(std::move(good));
  }
  if (!valid.empty() && !rate_.Take(bytes, limits_.rate_bytes, limits_.burst_bytes, Now())) {
    return {429, "Ingestion rate limit exceeded for user " + User() +
                     " (limit: " + std::to_string(static_cast<std::int64_t>(limits_.rate_bytes)) +
                     " bytes/sec) while attempting to ingest '" + std::to_string(lines) + "' lines totaling '" +
                     std::to_string(bytes) +
                     "' bytes, reduce log volume or contact your Loki administrator to see if the limit can be "
                     "increased"};
  }
  // An error of the ingester hides those found before.
  std::optional<LokiAnswer> failed;
  for (const LokiStreamPush& stream : valid) {
    if (LokiAnswer answer = Ingest(stream.labels, stream.entries); answer.status != 204) failed = std::move(answer);
  }
  if (failed) return *failed;
  if (poisoned || (limits_.hides_errors && !errors.empty())) return {400, "some entries are not acceptable"};
  return errors.empty() ? LokiAnswer{} : LokiAnswer{400, Grouped(errors)};
}

LokiAnswer LokiStore::Ingest(const Labels& labels, const std::vector<LokiEntry>& entries) {
  const auto [found, is_new] = streams_.try_emplace(labels);
  Stream& stream = found->second;
  if (is_new) stream.rate = {static_cast<double>(limits_.stream_burst_bytes), Now()};
  const std::string name = StreamText(labels);
  if (!stream.rate.Take(Bytes(entries), limits_.stream_rate_bytes, limits_.stream_burst_bytes, Now())) {
    std::string text;
    for (std::size_t i = 0; i < std::min(entries.size(), limits_.max_named_errors); ++i) {
      text +=
          "entry with timestamp " + GoTime(entries[i].ts_ns) +
          " ignored, reason: 'Per stream rate limit exceeded (limit: 3MB/sec) while attempting to ingest for stream '" +
          name + "' totaling " + std::to_string(Bytes(entries[i])) +
          "B, consider splitting a stream via additional labels or contact your Loki administrator to see if the "
          "limit can be increased',\n";
    }
    const std::string all = std::to_string(entries.size());
    return {429, text + "user '" + User() + "', total ignored: " + all + " out of " + all + " for stream: " + name};
  }
  std::string named;
  std::size_t ignored = 0;
  for (const LokiEntry& entry : entries) {
    if (entry.ts_ns == stream.last.ts_ns && entry.line == stream.last.line) continue;
    const std::int64_t oldest = stream.newest_ns - limits_.max_chunk_age_ns / 2;
    if (stream.newest_ns != 0 && entry.ts_ns < oldest) {
      if (++ignored <= limits_.max_named_errors) {
        named += "entry with timestamp " + GoTime(entry.ts_ns) +
                 " ignored, reason: 'entry too far behind, entry timestamp is: " + Rfc3339(entry.ts_ns) +
                 ", oldest acceptable timestamp is: " + Rfc3339(oldest) + "',\n";
      }
      continue;
    }
    Append(stream, entry);
  }
  if (ignored == 0) return {};
  return {400, named + "user '" + User() + "', total ignored: " + std::to_string(ignored) + " out of " +
                   std::to_string(entries.size()) + " for stream: " + name};
}

void LokiStore::Append(Stream& stream, const LokiEntry& entry) {
  stream.newest_ns = std::max(stream.newest_ns, entry.ts_ns);
  stream.last = entry;
  const auto [from, to] = stream.block.equal_range(entry.ts_ns);
  if (std::any_of(from, to, [&](const auto& known) { return known.second == entry.line; })) return;
  stream.block.emplace(entry.ts_ns, entry.line);
  stream.entries.push_back(entry);
  stream.block_bytes += entry.line.size() + 8 * entry.metadata.size();
  if (stream.block_bytes >= limits_.block_bytes) stream.block.clear(), stream.block_bytes = 0;
}

std::vector<std::pair<Labels, LokiEntry>> LokiStore::Query(const Labels& labels, std::int64_t start_ns,
                                                           std::int64_t end_ns, std::size_t limit) const {
  std::vector<std::pair<Labels, LokiEntry>> found;
  for (const auto& [of_stream, stream] : streams_) {
    const bool matches = std::all_of(labels.begin(), labels.end(), [&](const auto& label) {
      const auto own = of_stream.find(label.first);
      return own != of_stream.end() && own->second == label.second;
    });
    if (!matches) continue;
    for (const LokiEntry& entry : stream.entries) {
      if (start_ns <= entry.ts_ns && entry.ts_ns < end_ns) found.emplace_back(of_stream, entry);
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.second.ts_ns < b.second.ts_ns; });
  if (found.size() > limit) found.resize(limit);
  return found;
}

std::map<Labels, std::vector<LokiEntry>> LokiStore::Streams() const {
  std::map<Labels, std::vector<LokiEntry>> streams;
  for (const auto& [labels, stream] : streams_) streams[labels] = stream.entries;
  return streams;
}

}  // namespace breakwatch::fakes
