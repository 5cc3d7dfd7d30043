// Registries of packages: a content-addressed directory, MLflow, and OCI distribution. README.md has their layouts.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "breakwatch/core/artifact_registry.h"
#include "breakwatch/core/clock.h"
#include "breakwatch/core/result.h"
#include "breakwatch/net/http.h"

namespace breakwatch::exporters {

struct RegistryOptions {
  std::string user, password;  // basic auth; empty: none
  std::string token;           // bearer token; empty: none
  net::TlsOptions tls;
  // `timeout`: of a request during which nothing comes or goes, whole seconds. A large file may take longer.
  std::chrono::milliseconds timeout{60'000}, connect_timeout{5'000};
  int tries = 4;                         // of each request that failed temporarily; 2 if it timed out
  std::chrono::milliseconds pause{500};  // before the second try; doubles
  std::size_t chunk_bytes = 32u << 20;   // of an upload or download
  std::function<std::unique_ptr<net::HttpSender>()> make_sender;
};

// `name`: dir:PATH, mlflow:URL or oci:[http://|https://]HOST[:PORT]/REPOSITORY[:TAG], as `--to` of `artifact publish`;
// or a reference to a package, which has "@" and an id after it. Error: kUsage for any other text. `clock` must outlive
// it.
Result<std::unique_ptr<ArtifactRegistry>> MakeRegistry(const std::string& name, RegistryOptions options,
                                                       const Clock& clock);

}  // namespace breakwatch::exporters
