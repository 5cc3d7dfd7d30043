// PageReply: a file of the page at `/`, which is embedded in the program.
#pragma once

#include <httplib.h>

#include <optional>

#include "call.h"

namespace breakwatch::api {

bool IsOfPage(const httplib::Request& request);
// The file; 304 if the client has it; nullopt if the request is for something else.
std::optional<Reply> PageReply(const httplib::Request& request);

}  // namespace breakwatch::api
