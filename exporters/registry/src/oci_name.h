// The name of an image in an OCI registry, as `--to` and references write it.
#pragma once

#include <string>

#include "breakwatch/core/result.h"

namespace breakwatch::exporters {

struct OciName {
  std::string base;        // scheme, host and port
  std::string host;        // as written, with the port
  std::string repository;  // "team/models"
  std::string tag;         // empty: none was given
};

// [http://|https://]HOST[:PORT]/REPOSITORY[:TAG]. Without a scheme: http on loopback, else https. Error: kUsage.
Result<OciName> ParseOciName(const std::string& text);

}  // namespace breakwatch::exporters
