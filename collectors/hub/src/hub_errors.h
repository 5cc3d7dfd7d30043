// Classifies the Hub's error answers, as far as it distinguishes them, and describes them in messages.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/hub/hub_options.h"
#include "breakwatch/net/http.h"
#include "exclusions.h"

namespace breakwatch::hub {

// Untrusted text, truncated and without control characters.
std::string OneLine(std::string_view text);

// A failed answer: "HTTP 503: <the Hub's message>", or the error's text.
std::string Shown(const Result<net::HttpResponse>& answer);

// The Hub's own message: X-Error-Message, otherwise "error" of a JSON body. One truncated line; may be empty.
std::string HubMessage(const net::HttpResponse& response);

// Explains any status except 200, for a request about the model `id` at `revision`.
Exclusion ExplainAnswer(const net::HttpResponse& response, const std::string& id, const std::string& revision,
                        const HubOptions& options);

// True for a server error or a rate limit: the answer gives no information about the model.
bool IsOutage(const Result<net::HttpResponse>& answer);

}  // namespace breakwatch::hub
