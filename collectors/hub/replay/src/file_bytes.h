// Bytes of a file with what HTTP says of them: ETag, Range, If-None-Match.
#pragma once

#include <string>

#include "http_values.h"

namespace breakwatch::hub_replay {

// 200, 206, 304 or 416. `etag` without quotes.
Answer FileBytes(const Request& request, std::string content, const std::string& etag);

}  // namespace breakwatch::hub_replay
