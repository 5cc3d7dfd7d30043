// Hosts: the names by which a request may call this daemon.
//
// A page of another site could otherwise read the API with the address of that site bound to this machine (DNS
// rebinding). Addresses and names without a dot cannot be bound so.
#pragma once

#include <string>
#include <vector>

namespace breakwatch::api {

// `host`: the header, with or without a port; a client that sends none is no browser. `allowed`: further names.
bool IsOwnHost(const std::string& host, const std::vector<std::string>& allowed);

}  // namespace breakwatch::api
