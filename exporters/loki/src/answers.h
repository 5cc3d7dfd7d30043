// Classifies an answer of Loki, or of a proxy before it, to a pushed batch.
#pragma once

#include <cstddef>

#include "breakwatch/core/exporters.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

// `events`: their number in the batch.
Outcome OutcomeOfPush(const Result<net::HttpResponse>& answer, std::size_t events);
// Whether Loki may have stored events of the push though it did not say so.
bool MayHaveStored(const Result<net::HttpResponse>& answer);

}  // namespace breakwatch::exporters
