// Builds XML and HTML as trees, so that the library escapes every text.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace breakwatch::report {

// Text that XML 1.0 can contain: valid UTF-8; control characters and noncharacters become U+FFFD. Line ends stay.
std::string XmlText(std::string_view text);

// A child element with this text, which is OneLine's.
pugi::xml_node AddElement(pugi::xml_node parent, const char* name, std::string_view text = {});
// An attribute with this text, which is OneLine's.
void AddAttribute(pugi::xml_node node, const char* name, std::string_view text);

std::string XmlString(const pugi::xml_node& node, unsigned flags);

}  // namespace breakwatch::report
