#include "record_reader.h"

#include <algorithm>
#include <array>

#include "json_scan.h"

namespace breakwatch::trace {
namespace {

constexpr std::size_t kMaxPayload = 1u << 20;    // kept per payload
constexpr std::size_t kDigestBlock = 64u << 10;  // hashed at once: payload lines are short
constexpr std::size_t kMaxName = 128;

// Artifacts whose payload is parsed. For all others only the digest is checked.
constexpr std::array<std::string_view, 3> kKept = {"dynamo_graph_break_reason", "recompile_reasons", "torch_version"};

bool IsKept(const Record& record) {
  return record.kind == "artifact" && std::find(kKept.begin(), kKept.end(), record.name) != kKept.end();
}

// The JSON of a record's line, or an empty view if the line is not the start of a record.
std::string_view JsonOf(std::string_view line) {
  if (line.empty() || std::string_view("VIWEC").find(line.front()) == std::string_view::npos) return {};
  const std::size_t end = line.find("] {");
  return end == std::string_view::npos ? std::string_view() : line.substr(end + 2);
}

// "V1206 15:20:13.928000 4171 /opt/torch/_dynamo/utils.py:2473" -> the path.
std::string_view WrittenAt(std::string_view head) {
  for (int blanks = 0; blanks < 3; ++blanks) {
    const std::size_t blank = head.find(' ');
    if (blank == std::string_view::npos) return {};
    head.remove_prefix(blank + 1);
  }
  return head.substr(0, head.rfind(':'));
}

// The members that identify the compilation of a record.
using Place = std::optional<std::int64_t>& (*)(Record&);
struct Context {
  std::string_view key;
  Place place;
};
constexpr std::array<Context, 4> kContext = {{
    {"frame_id", [](Record& r) -> std::optional<std::int64_t>& { return r.id.frame; }},
    {"frame_compile_id", [](Record& r) -> std::optional<std::int64_t>& { return r.id.compile; }},
    {"compiled_autograd_id", [](Record& r) -> std::optional<std::int64_t>& { return r.id.autograd; }},
    {"rank", [](Record& r) -> std::optional<std::int64_t>& { return r.rank; }},
}};
constexpr std::array<std::string_view, 7> kNoKind = {"attempt",  "stack",  "severity",     "timestamp",
                                                     "pathname", "thread", "subgraph_name"};

}  // namespace

std::string CompileId::Text() const {
  std::string text;
  if (autograd) text = "!" + std::to_string(*autograd);
  if (frame && compile) {
    text += (text.empty() ? "" : "/") + std::to_string(*frame) + "/" + std::to_string(*compile);
  }
  return text;
}

ReadCounts& ReadCounts::operator+=(const ReadCounts& other) {
  records += other.records;
  unreadable += other.unreadable;
  mismatches += other.mismatches;
  torn += other.torn;
  return *this;
}

RecordReader::RecordReader(LineReader& lines, Digest& digest) : lines_(lines), digest_(digest), md5_("MD5") {}

bool RecordReader::Peek() {
  if (!pending_ && !ended_) {
    pending_ = lines_.Next(line_);
    ended_ = !pending_;
  }
  return pending_;
}

bool RecordReader::Next(Record& record) {
  while (Peek()) {
    const bool cut = !line_.ended;
    if (line_.text.starts_with('\t')) {  // belongs to a record that could not be read
      pending_ = false;
      continue;
    }
    // Copying a file as text may change its line ends. The record's own line then shows it.
    crlf_ = line_.text.ends_with('\r');
    if (crlf_) line_.text.remove_suffix(1);
    const bool blank = line_.text.empty();
    const bool good = !line_.too_long && TakeHead(line_.text, record);
    pending_ = false;
    if (!good) {
      if (!blank) ++(cut ? counts_.torn : counts_.unreadable);
      continue;
    }
    if (!TakePayload(record)) continue;
    ++counts_.records;
    return true;
  }
  return false;
}

bool RecordReader::TakeHead(std::string_view line, Record& record) {
  const std::string_view json = JsonOf(line);
  if (json.empty()) return false;
  head_.assign(line);
  const std::string_view text = std::string_view(head_).substr(line.size() - json.size());
  record = {};
  expected_ = {};
  ObjectScan scan(text);
  std::string_view key, value;
  while (scan.Next(key, value)) {
    const auto context = std::find_if(kContext.begin(), kContext.end(), [&](const Context& c) { return c.key == key; });
    if (context != kContext.end()) {
      context->place(record) = AsInt(value);
    } else if (key == "has_payload") {
      expected_ = value.size() > 2 ? value.substr(1, value.size() - 2) : std::string_view();
    } else if (record.kind.empty() && std::find(kNoKind.begin(), kNoKind.end(), key) == kNoKind.end()) {
      record.kind = key;
      record.value = value;
    }
  }
  if (!scan.Good() || record.kind.empty()) return false;
  record.written_at = WrittenAt(std::string_view(head_).substr(0, head_.size() - text.size() - 2));
  if (record.kind == "artifact") record.name = AsString(Member(record.value, "name"), kMaxName).value_or("");
  digest_.Add(text);
  return true;
}

// Reads and checks the payload, if any. False if the end of the file truncated it.
bool RecordReader::TakePayload(Record& record) {
  payload_.clear();
  block_.clear();
  const bool keep = IsKept(record);
  const bool check = !expected_.empty() && md5_.Available();
  bool first = true, too_long = false;
  while (Peek() && line_.text.starts_with('\t')) {
    std::string_view text = line_.text.substr(1);
    if (crlf_ && text.ends_with('\r')) text.remove_suffix(1);
    too_long = too_long || line_.too_long;
    if (check) {
      if (!first) block_ += '\n';
      block_ += text;
      if (block_.size() >= kDigestBlock) md5_.Add(block_), block_.clear();
    }
    if (keep && payload_.size() < kMaxPayload) {
      if (!first) payload_ += '\n';
      payload_ += text.substr(0, kMaxPayload - payload_.size());
    }
    first = false;
    pending_ = false;
  }
  record.payload = payload_;
  if (!check) return true;
  md5_.Add(block_);
  if (md5_.Take() == expected_ || too_long) return true;
  if (AtEnd()) {
    ++counts_.torn;
    return false;
  }
  ++counts_.mismatches;
  return true;
}

}  // namespace breakwatch::trace
