// What an answer of the gateway (or of a proxy before it) means for the snapshot that was sent.
#pragma once

#include <string>

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer, const std::string& what);

}  // namespace breakwatch::exporters
