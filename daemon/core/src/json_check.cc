#include <nlohmann/json.hpp>
#include <string>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "json_parse.h"

namespace breakwatch {
namespace {

// Checks the depth without recursion: counts brackets outside of strings.
std::optional<std::size_t> FirstTooDeep(std::string_view text, int max_depth) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > max_depth) return i;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return std::nullopt;
}

// Accepts all values and records where the text stopped being JSON.
class ErrorFinder final : public nlohmann::json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    at = position;
    return false;
  }
  std::size_t at = 0;
};

Error Invalid(const std::string& message) { return {ErrorCode::kInvalid, message}; }

}  // namespace

Result<void> CheckJson(std::string_view text, std::size_t max_bytes, int max_depth) {
  if (text.size() > max_bytes) {
    return Invalid("JSON of " + std::to_string(text.size()) + " bytes, more than the " + std::to_string(max_bytes) +
                   " allowed");
  }
  if (const auto at = FirstTooDeep(text, max_depth)) {
    return Invalid("JSON nested deeper than " + std::to_string(max_depth) + " at byte " + std::to_string(*at));
  }
  ErrorFinder finder;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &finder)) {
    return Invalid("not JSON at byte " + std::to_string(finder.at));
  }
  return {};
}

Result<simdjson::dom::element> ParseJson(simdjson::dom::parser& parser, std::string_view text, std::size_t max_bytes,
                                         int max_depth) {
  const auto read = [&](std::string_view document, simdjson::dom::element& element) {
    const auto depth = static_cast<std::size_t>(max_depth) + 1;  // a scalar within the deepest value has a level too
    const auto error = parser.allocate(document.size() + simdjson::SIMDJSON_PADDING, depth);
    return error ? error : parser.parse(document.data(), document.size()).get(element);
  };
  simdjson::dom::element element;
  if (text.size() <= max_bytes && read(text, element) == simdjson::SUCCESS) return element;
  if (auto checked = CheckJson(text, max_bytes, max_depth); !checked) return checked.error();
  // What simdjson alone refuses: numbers of more than 64 bits, a byte order mark.
  const std::string plain = JsonText(nlohmann::ordered_json::parse(text.begin(), text.end(), nullptr, false));
  if (const auto error = read(plain, element)) return Invalid(simdjson::error_message(error));
  return element;
}

std::string JsonText(const simdjson::dom::element& element) { return ToUtf8(simdjson::minify(element)); }

}  // namespace breakwatch
