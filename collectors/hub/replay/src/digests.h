// LFS pointers and base64 as the Hub and git write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::hub_replay {

std::string LfsPointer(std::string_view content);  // the small file that git keeps in place of a large one
std::string Base64(std::string_view bytes);        // RFC 4648 section 4, padded
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace breakwatch::hub_replay
