// Checks single texts. Each returns a description of the expected form, or nothing if the text is valid.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace breakwatch::config {

using Expected = std::optional<std::string>;

Expected NotEmpty(const std::string& text);
Expected HttpUrl(const std::string& text);          // or empty; without user, query and fragment
Expected OtlpProtocol(const std::string& text);     // or empty
Expected OtlpCompression(const std::string& text);  // or empty
Expected StoreUrlText(const std::string& text);     // or empty
Expected ListenAddress(const std::string& text);
Expected Name(const std::string& text);  // letters, digits, "_", "-", ".": safe in a path and a label
Expected NameOrEmpty(const std::string& text);
Expected NamedPython(const std::string& text);  // NAME=PYTHON
Expected MetricName(const std::string& text);
Expected ToolchainMode(const std::string& text);  // a Name, or NAME/MODE
Expected BatchSize(const std::string& text);      // a number from 1 to 65536
Expected OneLine(const std::string& text);        // printable, at most 128 bytes
Expected OneLineOrEmpty(const std::string& text);
Expected ExternalLabel(const std::string& text);  // NAME=VALUE; job, instance and pool have their own keys
Expected HttpHeader(const std::string& text);     // NAME: VALUE; without those that a request has anyway

Expected NameValue(const std::string& text);    // NAME=VALUE, printable
Expected HeaderPairs(const std::string& text);  // or empty: NAME=VALUE,NAME=VALUE with percent-encoded values

// "a=1,b=2" in the encoding of W3C baggage, decoded. nullopt: it is not that.
std::optional<std::vector<std::pair<std::string, std::string>>> NameValuePairs(std::string_view text);
bool IsHeaderName(std::string_view text);
bool IsOfFraming(std::string_view name);    // a header that says what the body is, which only the sender knows
bool IsHeaderValue(std::string_view text);  // one line

// The position and length of the password in a URL (after "user:" or "password="), when there is one.
struct Span {
  std::size_t at = 0, size = 0;
};
std::optional<Span> PasswordIn(const std::string& url);

}  // namespace breakwatch::config
