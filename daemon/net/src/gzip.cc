#include "gzip.h"

#include <zlib.h>

#include <limits>

namespace breakwatch::net {

Result<std::string> Gzip(std::string_view body) {
  constexpr int kGzipWindow = 15 + 16;  // the largest window, with a gzip header instead of zlib's
  constexpr int kMemory = 8;            // zlib's default
  if (body.size() > std::numeric_limits<uInt>::max()) return Error{ErrorCode::kInvalid, "request body over 4 GB"};
  z_stream stream{};
  // The fastest level: bodies here are repetitive text, where level 1 already gives most of the gain.
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{ErrorCode::kInternal, "zlib cannot start: out of memory"};
  }
  std::string out(deflateBound(&stream, static_cast<uLong>(body.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int end = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (end != Z_STREAM_END) return Error{ErrorCode::kInternal, "zlib did not finish"};
  return out;
}

}  // namespace breakwatch::net
