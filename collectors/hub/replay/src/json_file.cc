#include "json_file.h"

#include <fstream>

#include "breakwatch/core/json.h"

namespace breakwatch::hub_replay {

Result<Json> ParseChecked(std::string_view text, std::size_t max_bytes) {
  if (auto checked = CheckJson(text, max_bytes, kMaxDepth); !checked) return checked.error();
  Json value = Json::parse(text, nullptr, false);
  if (value.is_discarded()) return Error{ErrorCode::kInvalid, "not JSON"};
  return value;
}

Result<std::optional<std::string>> ReadIfThere(const std::filesystem::path& path, std::size_t max_bytes) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(path, code)) return std::optional<std::string>();
  const auto size = std::filesystem::file_size(path, code);
  if (code) return Error{ErrorCode::kStore, path.string() + ": " + code.message()};
  if (size > max_bytes) {
    return Error{ErrorCode::kInvalid, path.string() + ": larger than " + std::to_string(max_bytes) + " bytes"};
  }
  std::ifstream in(path, std::ios::binary);
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!in) return Error{ErrorCode::kStore, path.string() + ": cannot be read"};
  return std::optional<std::string>(std::move(bytes));
}

std::string Text(const Json& object, const char* key) {
  const auto field = object.find(key);
  return field != object.end() && field->is_string() ? field->get<std::string>() : std::string();
}

}  // namespace breakwatch::hub_replay
