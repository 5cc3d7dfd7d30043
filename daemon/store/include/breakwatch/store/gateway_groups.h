// GatewayGroups: the groups on a Pushgateway that we pushed and may delete. Without the record, groups that an earlier
// run pushed and that no longer exist would stay on the gateway forever.
//
// Owner, thread and errors: store.h.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::store {

class GatewayGroups {
 public:
  virtual ~GatewayGroups() = default;

  // By the gateway's URL; empty if none is recorded.
  virtual Result<std::vector<std::string>> OwnedGroups(const std::string& gateway) = 0;
  virtual Result<void> SetOwnedGroups(const std::string& gateway, const std::vector<std::string>& groups) = 0;
};

}  // namespace breakwatch::store
