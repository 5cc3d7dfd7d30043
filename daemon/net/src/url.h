// Formats URLs for messages.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch::net {

// The URL without user part, query and fragment: user parts contain passwords, and queries contain signatures.
std::string PrintableUrl(std::string_view url);

}  // namespace breakwatch::net
