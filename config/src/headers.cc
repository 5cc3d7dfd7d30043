#include "breakwatch/config/headers.h"

#include <algorithm>

#include "breakwatch/config/load.h"
#include "breakwatch/core/text.h"
#include "text_checks.h"

namespace breakwatch::config {

Result<HeaderList> ReadHeaders(const std::string& secret, const std::string& file) {
  if (file.empty()) return NameValuePairs(secret).value_or(HeaderList{});
  const auto text = ReadSecret({}, file);
  if (!text) return text.error();
  HeaderList headers;
  int number = 0;
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view whole = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), whole.size() + 1));
    ++number;
    const std::string_view line = Trim(whole);
    if (line.empty() || line.starts_with('#')) continue;
    const auto colon = std::min(line.find(':'), line.size());
    std::string name(Trim(line.substr(0, colon)));
    std::string value(Trim(line.substr(std::min(colon + 1, line.size()))));
    if (!IsHeaderName(name) || !IsHeaderValue(value) || colon == line.size())
      return Error{ErrorCode::kConfig, file + ":" + std::to_string(number) + ": expected a header as NAME: VALUE"};
    if (IsOfFraming(name))
      return Error{ErrorCode::kConfig, file + ":" + std::to_string(number) + ": every request has its own " + name};
    headers.emplace_back(std::move(name), std::move(value));
  }
  return headers;
}

}  // namespace breakwatch::config
