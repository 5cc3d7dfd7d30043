// Refusals: every error the Hub answers, with its exact status, headers and text.
#pragma once

#include <string>
#include <string_view>

#include "http_values.h"

namespace breakwatch::hub_replay {

enum class Refusal {
  kNoRepoAnonymous,  // missing or private, no token: the two cannot be told apart
  kNoRepo,           // missing or private, good token
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

// `subject` fills the text: the id, the revision, the whole text of a kBadRequest. `on_file`: the request was for a
// file, whose refusals are plain text where the API's are JSON.
Answer Refuse(Refusal refusal, std::string_view subject, bool on_file);

}  // namespace breakwatch::hub_replay
