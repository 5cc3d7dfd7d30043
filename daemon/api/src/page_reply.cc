#include "page_reply.h"

#include <string>

#include "breakwatch/page/page_files.h"

namespace breakwatch::api {

bool IsOfPage(const httplib::Request& request) {
  return (request.method == "GET" || request.method == "HEAD") && page::FindPageFile(request.path) != nullptr;
}

std::optional<Reply> PageReply(const httplib::Request& request) {
  if (!IsOfPage(request)) return std::nullopt;
  const page::PageFile& file = *page::FindPageFile(request.path);
  Reply reply;
  reply.type = file.content_type;
  reply.headers = {{"ETag", std::string(file.etag)},
                   {"Cache-Control", "no-cache"},
                   {"Content-Security-Policy", page::kContentSecurityPolicy}};
  if (request.get_header_value("If-None-Match").find(file.etag) != std::string::npos) {
    reply.status = 304;
  } else if (request.get_header_value("Accept-Encoding").find("gzip") != std::string::npos) {
    reply.body = file.gzip;
    reply.headers["Content-Encoding"] = "gzip";
  } else {
    reply.body = page::Plain(file);
  }
  return reply;
}

}  // namespace breakwatch::api
