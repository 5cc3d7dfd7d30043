// Scans JSON text without building values. Most of a trace is skipped, so skipping must be cheap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::trace {

// Deeper nesting counts as malformed; this bounds the recursion.
inline constexpr int kMaxJsonDepth = 64;

// Iterates over the members of a JSON object in order. `key` and `value` are raw text; `key` has no quotes.
class ObjectScan {
 public:
  explicit ObjectScan(std::string_view text);
  // False at the end, and if the text is not JSON.
  bool Next(std::string_view& key, std::string_view& value);
  // True if the whole text was one well-formed object. Valid after Next returned false.
  bool Good() const { return good_ && done_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool good_ = false, done_ = false, first_ = true;
};

// The end of the JSON value that begins at `at`, or npos if there is none.
std::size_t SkipValue(std::string_view text, std::size_t at, int depth = 0);

bool IsObject(std::string_view value);
bool IsNull(std::string_view value);
bool IsTrue(std::string_view value);
// The unescaped characters of a string, at most about `max_bytes`. nullopt if the value is not a string.
std::optional<std::string> AsString(std::string_view value, std::size_t max_bytes);
std::optional<std::int64_t> AsInt(std::string_view value);
std::optional<double> AsNumber(std::string_view value);
// A member's value, or an empty view.
std::string_view Member(std::string_view object, std::string_view key);
// An element's value, or an empty view; -1 is the last.
std::string_view Element(std::string_view array, int index);

}  // namespace breakwatch::trace
