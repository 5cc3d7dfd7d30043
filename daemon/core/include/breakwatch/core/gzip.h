// Gzip: compresses and expands text in pieces, so that no long text is ever held whole.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch {

// One gzip member, at the fastest level: what is compressed here is repetitive text, where that level already gives
// most of the gain.
class GzipWriter {
 public:
  // `sink` gets the compressed bytes in pieces of 64 KiB.
  explicit GzipWriter(std::function<void(std::string_view piece)> sink);
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  void Write(std::string_view text);
  // Ends the member. Error: kInternal when zlib has no memory.
  Result<void> Finish();
  std::size_t read_bytes() const;  // that were written to this

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Expands what a GzipWriter wrote.
class GzipReader {
 public:
  // `source` gives the compressed bytes piece by piece, and nothing at their end. A piece is valid until the next call.
  explicit GzipReader(std::function<std::string_view()> source);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // The next piece, at most 64 KiB; empty at the end. Error: kInvalid, the bytes are no complete gzip member.
  Result<std::string> Next();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

Result<std::string> Gzip(std::string_view text);
// Error: kInvalid, and if the text is longer than `max_bytes`.
Result<std::string> Gunzip(std::string_view packed, std::size_t max_bytes);

}  // namespace breakwatch
