// Requests and answers as values, so that tests of the Hub's behaviour need no socket.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace breakwatch::hub_replay {

using Pairs = std::vector<std::pair<std::string, std::string>>;

struct Request {
  std::string method = "GET";
  std::string target;  // as sent: the path and the query
  Pairs headers;
  std::string body;
  std::string peer;  // client address; rate limits are kept per address

  std::string_view Path() const;
  std::string_view RawQuery() const;
  // The first header of that name, any case.
  std::optional<std::string> Header(std::string_view name) const;
};

struct Answer {
  int status = 200;
  std::string body;
  std::string content_type;
  Pairs headers;

  // Replaces control characters by spaces: data of the request must not split a header.
  Answer& With(std::string name, std::string_view value);
};

// Decodes percent-encoding; in a query "+" is a space. An invalid escape stays unchanged.
std::string Decode(std::string_view text, bool plus_is_space);
// name=value pairs in order, decoded.
Pairs ParseQuery(std::string_view raw);
std::vector<std::string_view> SplitPath(std::string_view path);
bool IsTrue(std::string_view value);  // true, True, 1

}  // namespace breakwatch::hub_replay
