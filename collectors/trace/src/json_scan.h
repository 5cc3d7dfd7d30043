// A look at JSON text without making values of it: most of a trace is skipped, so it must be cheap to skip.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace breakwatch::trace {

// Nested deeper, a text counts as broken; bounds the stack.
inline constexpr int kMaxJsonDepth = 64;

// Walks the members of a JSON object from left to right. `key` and `value` are the text as it stands, a key without
// its quotes.
class ObjectScan {
 public:
  explicit ObjectScan(std::string_view text);
  // False at the end, and where the text is not JSON.
  bool Next(std::string_view& key, std::string_view& value);
  // The whole text was one well-formed object. After Next returned false.
  bool Good() const { return good_ && done_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  bool good_ = false, done_ = false, first_ = true;
};

// The end of the JSON value that begins at `at`, or npos where there is none.
std::size_t SkipValue(std::string_view text, std::size_t at, int depth = 0);

bool IsObject(std::string_view value);
bool IsNull(std::string_view value);
bool IsTrue(std::string_view value);
// A string's characters, escapes undone, at most about `max_bytes`; nullopt when the value is no string.
std::optional<std::string> AsString(std::string_view value, std::size_t max_bytes);
std::optional<std::int64_t> AsInt(std::string_view value);
std::optional<double> AsNumber(std::string_view value);
// A member's value, or an empty view.
std::string_view Member(std::string_view object, std::string_view key);
// An element's value, or an empty view; -1 is the last.
std::string_view Element(std::string_view array, int index);

}  // namespace breakwatch::trace
