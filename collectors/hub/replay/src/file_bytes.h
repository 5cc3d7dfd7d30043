// Answers requests for a file's bytes with the headers ETag, Range and If-None-Match.
#pragma once

#include <string>

#include "http_values.h"

namespace breakwatch::hub_replay {

// 200, 206, 304 or 416. `etag` without quotes.
Answer FileBytes(const Request& request, std::string content, const std::string& etag);

}  // namespace breakwatch::hub_replay
