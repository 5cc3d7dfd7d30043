// Problems: error documents of RFC 9457. The detail is the text that the command line prints.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch::api {

inline constexpr const char* kProblem = "application/problem+json";

// "Not Found"; "Error" for a status that is never sent.
std::string_view StatusPhrase(int status);
int HttpStatus(const Error& error);
// {"type", "title", "status", "detail", "code"}, with the code of the status or of the error.
std::string ProblemDocument(int status, const std::string& detail);
std::string ProblemDocument(const Error& error);
// "usage", "configuration", "store", ...
std::string_view CodeName(ErrorCode code);

}  // namespace breakwatch::api
