// How a server is reached: what the settings of every network exporter have in common.
#pragma once

#include <string>

#include "breakwatch/config/load.h"
#include "breakwatch/core/result.h"

namespace breakwatch::wiring {

template <class ExporterSettings, class Options>
Result<void> SetReach(const ExporterSettings& s, const std::string& url, Options& options) {
  const auto password = config::ReadSecret(s.password, s.password_file);
  if (!password) return password.error();
  options.url = url;
  options.user = s.username;
  options.password = *password;
  options.tls = {s.tls.ca_file, s.tls.cert_file, s.tls.key_file, s.tls.insecure_skip_verify};
  options.connect_timeout = s.connect_timeout;
  options.timeout = s.timeout;
  return {};
}

}  // namespace breakwatch::wiring
