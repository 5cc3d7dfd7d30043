// Base64 of mail and of content security policies.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch::report {

// RFC 4648 section 4, with padding, without line ends.
std::string Base64(std::string_view bytes);
// The SHA-256 of a text in base64, as a content security policy names an inline style.
std::string Sha256Base64(std::string_view text);

}  // namespace breakwatch::report
