// The Hub's refusals, told apart as far as it lets a caller, and put into words.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/hub/hub_options.h"
#include "breakwatch/net/http.h"
#include "exclusions.h"

namespace breakwatch::hub {

// Text from outside, bounded and without control characters.
std::string OneLine(std::string_view text);

// An answer that is no good: "HTTP 503: the Hub's words", or the error's text.
std::string Shown(const Result<net::HttpResponse>& answer);

// What the Hub itself says: X-Error-Message, else "error" of a JSON body; one line, bounded; may be empty.
std::string HubMessage(const net::HttpResponse& response);

// Any status but 200, answered to a request about the model `id` at `revision`.
Exclusion ExplainAnswer(const net::HttpResponse& response, const std::string& id, const std::string& revision,
                        const HubOptions& options);

// The server stumbled or asks for patience: the answer says nothing about the model.
bool IsOutage(const Result<net::HttpResponse>& answer);

}  // namespace breakwatch::hub
