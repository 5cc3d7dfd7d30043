#include "breakwatch/config/inputs_file.h"

#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "read_file.h"

namespace breakwatch::config {
namespace {

constexpr std::size_t kMaxInputsBytes = 4u << 20;
constexpr int kMaxInputsDepth = 32;

}  // namespace

Result<std::map<std::string, std::string>> ReadInputsFile(const std::string& path) {
  std::map<std::string, std::string> specs;
  if (path.empty()) return specs;
  const auto wrong = [&](const std::string& why) {
    return Error{ErrorCode::kConfig, "capture.inputs_file " + path + ": " + why};
  };
  const auto text = ReadAtMost(path, kMaxInputsBytes);
  if (!text) return wrong(text.error().message);
  if (auto checked = CheckJson(*text, kMaxInputsBytes, kMaxInputsDepth); !checked)
    return wrong(checked.error().message);
  const auto document = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return wrong("expected an object of input specs by model id or model_type:NAME");
  for (const auto& [name, spec] : document.items()) {
    if (!spec.is_object()) return wrong("\"" + name + "\": expected an object");
    specs[name] = JsonText(spec);
  }
  return specs;
}

}  // namespace breakwatch::config
