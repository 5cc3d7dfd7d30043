// Classifies an answer of Loki, or of a proxy before it, to a pushed batch.
#pragma once

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer);

}  // namespace breakwatch::exporters
