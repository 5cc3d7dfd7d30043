// PageFiles: the files of the page at `/`, embedded in the program.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace breakwatch::page {

// Nothing from elsewhere, nothing inline, and no other site may frame the page.
inline constexpr const char* kContentSecurityPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

struct PageFile {
  std::string_view path;  // of the request: "/", "/page/app.js"
  std::string_view content_type;
  std::string_view etag;  // strong, with its quotation marks
  std::string_view gzip;  // the content, compressed
  std::size_t size = 0;   // of the content in bytes
};

std::span<const PageFile> PageFiles();
const PageFile* FindPageFile(std::string_view path);  // null: there is none
std::string Plain(const PageFile& file);              // for a client that does not accept gzip

}  // namespace breakwatch::page
