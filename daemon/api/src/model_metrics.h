// ModelMetrics: the series of the newest snapshot, compressed once and shared by everyone who scrapes it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/gzip.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/snapshot.h"

namespace breakwatch::api {

// A long text as one gzip member, in pieces: appending to one string would need twice its memory.
class PackedText {
 public:
  void Append(std::string_view piece);
  void Expands(std::size_t bytes) { text_bytes_ = bytes; }

  std::size_t size() const { return size_; }              // of the member
  std::size_t text_bytes() const { return text_bytes_; }  // of the text
  // The bytes of the member from here on, as many as are together; empty at the end.
  std::string_view From(std::size_t at) const;

 private:
  std::vector<std::string> pieces_;  // all as long as the first, except the last
  std::size_t size_ = 0, text_bytes_ = 0;
};

// Reads the text of a PackedText in any order; fast from one byte to the next.
class TextReader {
 public:
  explicit TextReader(std::shared_ptr<const PackedText> packed) : packed_(std::move(packed)) {}
  // Empty at the end, and if the member is damaged.
  std::string_view From(std::size_t at);

 private:
  void Start();

  const std::shared_ptr<const PackedText> packed_;
  std::unique_ptr<GzipReader> reader_;
  std::string piece_;
  std::size_t place_ = 0, packed_place_ = 0;  // `place_`: of the piece in the text
};

// Thread: any.
class ModelMetrics {
 public:
  // More scrapes at once than scrapers that make sense; each takes a thread of the server.
  static constexpr int kAtOnce = 8;

  // Holds one of the kAtOnce places until the pointer is gone. Null: none is free.
  Result<std::shared_ptr<const PackedText>> Scrape(const SnapshotPtr& snapshot);

 private:
  Result<std::shared_ptr<const PackedText>> Of(const SnapshotPtr& snapshot);

  std::atomic<int> running_{0};
  std::mutex mutex_;  // held while the text is made: those who come meanwhile share it
  std::weak_ptr<const Snapshot> of_;
  std::shared_ptr<const PackedText> packed_;
};

}  // namespace breakwatch::api
