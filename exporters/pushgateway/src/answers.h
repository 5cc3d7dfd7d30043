// Classifies an answer of the gateway, or of a proxy before it, to a pushed snapshot.
#pragma once

#include <string>

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer, const std::string& what);

}  // namespace breakwatch::exporters
