// Refusals: every error answer of the Hub, with its exact status, headers and text.
#pragma once

#include <string>
#include <string_view>

#include "http_values.h"

namespace breakwatch::hub_replay {

enum class Refusal {
  kNoRepoAnonymous,  // missing or private, without a token: the Hub does not distinguish them
  kNoRepo,           // missing or private, with a valid token
  kBadToken,
  kGatedAnonymous,
  kGated,
  kDisabled,
  kRevision,
  kEntry,
  kBadRequest,
  kRateLimit,
  kMethod,
  kNoRoute,
};

// `subject` is inserted into the text: the id, the revision, or the whole text of a kBadRequest. `on_file`: the request
// was for a file. Errors for files are plain text, and errors of the API are JSON.
Answer Refuse(Refusal refusal, std::string_view subject, bool on_file);

}  // namespace breakwatch::hub_replay
