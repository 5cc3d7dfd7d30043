// RecordReader: returns the records of one trace file. A record is a line `V1206 15:20:13.928000 TID path:line]
// {json}`. Its `has_payload` is the digest of the payload. The payload is in the following lines, each after a tab.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "breakwatch/core/result.h"
#include "digests.h"
#include "line_reader.h"

namespace breakwatch::trace {

// Which compilation a record is about.
struct CompileId {
  std::optional<std::int64_t> autograd, frame, compile;

  bool known() const { return autograd || (frame && compile); }
  std::string Text() const;  // as Dynamo writes it: "3/1", "!0/3/1", "!0"; empty when unknown
  bool IsRecompile() const { return frame && compile.value_or(0) > 0; }
};

struct Record {
  std::string_view kind;   // the member that names the type: "artifact", "compilation_metrics", ...
  std::string_view value;  // the raw value of that member
  CompileId id;
  std::optional<std::int64_t> rank;
  std::string_view written_at;  // the source file that wrote it, from the start of the line
  std::string name;             // of an artifact
  std::string_view payload;     // kept for the artifacts that are parsed, at most 1 MiB
};

struct ReadCounts {
  std::int64_t records = 0;
  std::int64_t unreadable = 0;  // lines that are not records, or with malformed JSON
  std::int64_t mismatches = 0;  // payloads that differ from their digest
  std::int64_t torn = 0;        // records truncated by the end of the file

  ReadCounts& operator+=(const ReadCounts& other);
};

class RecordReader {
 public:
  // `digest` receives the text of every record. All arguments must outlive the reader.
  RecordReader(LineReader& lines, Digest& digest);

  // Returns the next complete record. Its views are valid until the next call. False at the end.
  bool Next(Record& record);
  const ReadCounts& counts() const { return counts_; }

 private:
  bool TakeHead(std::string_view line, Record& record);
  bool TakePayload(Record& record);
  bool AtEnd() const { return !pending_ && ended_; }
  bool Peek();

  LineReader& lines_;
  Digest& digest_;
  Digest md5_;
  Line line_;
  bool pending_ = false;  // `line_` was read but not used yet
  bool ended_ = false;
  bool crlf_ = false;  // the record's lines end in "\r\n"
  std::string head_, payload_, block_;
  std::string_view expected_;  // the payload's digest; empty if none
  ReadCounts counts_;
};

}  // namespace breakwatch::trace
