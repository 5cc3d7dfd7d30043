// Classifies an answer to one remote write request, from a receiver or from a proxy before it.
#pragma once

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

// A kRefused concerns samples of this request only, and `smaller` is set if fewer series at once may be accepted.
Outcome OutcomeOfWrite(const Result<net::HttpResponse>& answer);

// True if the receiver may have stored the request.
bool WriteMayBeStored(const Result<net::HttpResponse>& answer);

}  // namespace breakwatch::exporters
