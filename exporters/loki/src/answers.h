// What an answer of Loki (or of a proxy before it) means for the batch that was pushed.
#pragma once

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer);

}  // namespace breakwatch::exporters
