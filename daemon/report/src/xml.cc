#include "xml.h"

#include <algorithm>
#include <sstream>

#include "escape.h"

namespace breakwatch::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// U+FFFE and U+FFFF, which no XML document may contain.
void ReplaceNoncharacters(std::string& text) {
  for (const std::string_view bad : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (auto at = text.find(bad); at != std::string::npos; at = text.find(bad, at)) {
      text.replace(at, bad.size(), kReplacement);
    }
  }
}

std::string XmlLine(std::string_view text) {
  std::string line = OneLine(text);
  ReplaceNoncharacters(line);
  return line;
}

}  // namespace

std::string XmlText(std::string_view text) {
  std::string out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += (begin == 0 ? "" : "\n") + XmlLine(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

pugi::xml_node AddElement(pugi::xml_node parent, const char* name, std::string_view text) {
  pugi::xml_node node = parent.append_child(name);
  if (!text.empty()) node.append_child(pugi::node_pcdata).set_value(XmlLine(text).c_str());
  return node;
}

void AddAttribute(pugi::xml_node node, const char* name, std::string_view text) {
  node.append_attribute(name).set_value(XmlLine(text).c_str());
}

std::string XmlString(const pugi::xml_node& node, unsigned flags) {
  std::ostringstream out;
  node.print(out, " ", flags, pugi::encoding_utf8);
  return out.str();
}

}  // namespace breakwatch::report
