// The text of openapi.json, compiled in.
#pragma once

namespace breakwatch::api {
extern const char kOpenApi[];
}  // namespace breakwatch::api
