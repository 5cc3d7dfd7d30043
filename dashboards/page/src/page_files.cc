#include "breakwatch/page/page_files.h"

#include <zlib.h>

#include <algorithm>

namespace breakwatch::page {

const PageFile* FindPageFile(std::string_view path) {
  const auto files = PageFiles();
  const auto found = std::find_if(files.begin(), files.end(), [&](const PageFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

std::string Plain(const PageFile& file) {
  constexpr int kGzip = 15 + 16;
  std::string out(file.size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.gzip.data()));
  stream.avail_in = static_cast<uInt>(file.gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (inflateInit2(&stream, kGzip) != Z_OK) return {};
  inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return out;
}

}  // namespace breakwatch::page
