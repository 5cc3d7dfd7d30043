#include "breakwatch/core/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace breakwatch {
namespace {

constexpr int kGzipWindow = 15 + 16;  // the largest window, with a gzip header instead of zlib's
constexpr int kMemory = 8;            // zlib's default
constexpr std::size_t kPiece = 64 * 1024;

Bytef* BytesOf(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

// zlib counts in 32 bits.
std::string_view TakePart(std::string_view& text) {
  const std::string_view part = text.substr(0, std::numeric_limits<uInt>::max());
  text.remove_prefix(part.size());
  return part;
}

}  // namespace

class GzipWriter::Impl {
 public:
  explicit Impl(std::function<void(std::string_view)> sink) : sink_(std::move(sink)), out_(kPiece, '\0') {
    ready_ = deflateInit2(&stream_, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
    StartPiece();
  }
  ~Impl() {
    if (ready_) deflateEnd(&stream_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void Write(std::string_view text) {
    bytes_ += text.size();
    while (!text.empty()) Run(TakePart(text), Z_NO_FLUSH);
  }
  Result<void> Finish() {
    Run({}, Z_FINISH);
    if (!ready_) return Error{ErrorCode::kInternal, "zlib cannot compress: out of memory"};
    sink_(std::string_view(out_).substr(0, kPiece - stream_.avail_out));
    return {};
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void StartPiece() {
    stream_.next_out = BytesOf(out_);
    stream_.avail_out = kPiece;
  }
  void Run(std::string_view part, int flush) {
    if (!ready_) return;
    stream_.next_in = BytesOf(part);
    stream_.avail_in = static_cast<uInt>(part.size());
    while (true) {
      const int code = deflate(&stream_, flush);
      const bool done = flush == Z_FINISH ? code == Z_STREAM_END : stream_.avail_in == 0 && stream_.avail_out > 0;
      if (code == Z_STREAM_ERROR) ready_ = false;
      if (done || !ready_) return;
      sink_(out_);
      StartPiece();
    }
  }

  std::function<void(std::string_view)> sink_;
  std::string out_;
  z_stream stream_{};
  bool ready_ = false;
  std::size_t bytes_ = 0;
};

GzipWriter::GzipWriter(std::function<void(std::string_view)> sink) : impl_(std::make_unique<Impl>(std::move(sink))) {}
GzipWriter::~GzipWriter() = default;
void GzipWriter::Write(std::string_view text) { impl_->Write(text); }
Result<void> GzipWriter::Finish() { return impl_->Finish(); }
std::size_t GzipWriter::read_bytes() const { return impl_->bytes(); }

class GzipReader::Impl {
 public:
  explicit Impl(std::function<std::string_view()> source) : source_(std::move(source)) {
    ready_ = inflateInit2(&stream_, kGzipWindow) == Z_OK;
  }
  ~Impl() {
    if (ready_) inflateEnd(&stream_);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<std::string> Next() {
    if (!ready_) return Error{ErrorCode::kInternal, "zlib cannot expand: out of memory"};
    std::string piece(ended_ ? 0 : kPiece, '\0');
    stream_.next_out = BytesOf(piece);
    stream_.avail_out = static_cast<uInt>(piece.size());
    while (!ended_ && stream_.avail_out > 0) {
      if (stream_.avail_in == 0) {
        if (rest_.empty()) rest_ = source_();
        const std::string_view part = TakePart(rest_);
        stream_.next_in = BytesOf(part);
        stream_.avail_in = static_cast<uInt>(part.size());
      }
      const int code = inflate(&stream_, Z_NO_FLUSH);
      ended_ = code == Z_STREAM_END;
      if (code != Z_OK && !ended_) return Error{ErrorCode::kInvalid, "not a complete gzip member"};
    }
    piece.resize(piece.size() - stream_.avail_out);
    return piece;
  }

 private:
  std::function<std::string_view()> source_;
  std::string_view rest_;
  z_stream stream_{};
  bool ready_ = false, ended_ = false;
};

GzipReader::GzipReader(std::function<std::string_view()> source) : impl_(std::make_unique<Impl>(std::move(source))) {}
GzipReader::~GzipReader() = default;
Result<std::string> GzipReader::Next() { return impl_->Next(); }

Result<std::string> Gzip(std::string_view text) {
  std::string packed;
  GzipWriter writer([&packed](std::string_view piece) { packed.append(piece); });
  writer.Write(text);
  if (auto finished = writer.Finish(); !finished) return finished.error();
  return packed;
}

Result<std::string> Gunzip(std::string_view packed, std::size_t max_bytes) {
  std::string text;
  GzipReader reader([&packed] { return std::exchange(packed, {}); });
  while (true) {
    auto piece = reader.Next();
    if (!piece) return piece.error();
    if (piece->empty()) return text;
    if (text.size() + piece->size() > max_bytes) return Error{ErrorCode::kInvalid, "the expanded text is too long"};
    text += *piece;
  }
}

}  // namespace breakwatch
