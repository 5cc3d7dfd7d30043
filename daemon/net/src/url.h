// URLs as they may appear in messages.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch::net {

// The URL without user part, query and fragment: user parts hold passwords, queries hold signatures.
std::string PrintableUrl(std::string_view url);

}  // namespace breakwatch::net
