#include "model_metrics.h"

#include <algorithm>
#include <utility>

#include "breakwatch/core/exposition.h"

namespace breakwatch::api {

void PackedText::Append(std::string_view piece) {
  if (piece.empty()) return;
  pieces_.emplace_back(piece);
  size_ += piece.size();
}

std::string_view PackedText::From(std::size_t at) const {
  if (at >= size_) return {};
  const std::size_t each = pieces_.front().size();
  return std::string_view(pieces_[at / each]).substr(at % each);
}

void TextReader::Start() {
  place_ = packed_place_ = 0;
  piece_.clear();
  reader_ = std::make_unique<GzipReader>([this] {
    const std::string_view bytes = packed_->From(packed_place_);
    packed_place_ += bytes.size();
    return bytes;
  });
}

std::string_view TextReader::From(std::size_t at) {
  if (!reader_ || at < place_) Start();
  while (at >= place_ + piece_.size()) {
    place_ += piece_.size();
    auto next = reader_->Next();
    if (!next || next->empty()) return piece_.clear(), std::string_view();
    piece_ = *std::move(next);
  }
  return std::string_view(piece_).substr(at - place_);
}

Result<std::shared_ptr<const PackedText>> ModelMetrics::Scrape(const SnapshotPtr& snapshot) {
  const std::shared_ptr<void> place(&running_, [this](void*) { --running_; });
  if (++running_ > kAtOnce) return std::shared_ptr<const PackedText>();
  auto packed = Of(snapshot);
  if (!packed) return packed.error();
  const PackedText* text = packed->get();
  return std::shared_ptr<const PackedText>(text, [place, kept = *std::move(packed)](const PackedText*) {});
}

Result<std::shared_ptr<const PackedText>> ModelMetrics::Of(const SnapshotPtr& snapshot) {
  const std::lock_guard lock(mutex_);
  if (packed_ && of_.lock() == snapshot) return packed_;
  packed_.reset();  // two of them at once would be twice the memory
  auto fresh = std::make_shared<PackedText>();
  GzipWriter writer([&fresh](std::string_view piece) { fresh->Append(piece); });
  WriteExposition(*snapshot, {}, [&writer](std::string_view chunk) { writer.Write(chunk); });
  if (auto finished = writer.Finish(); !finished) return finished.error();
  fresh->Expands(writer.read_bytes());
  of_ = snapshot;
  packed_ = fresh;
  return packed_;
}

}  // namespace breakwatch::api
