#include "resources_of_captures.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "breakwatch/core/json.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kMaxInputsBytes = 4u << 20;
constexpr int kMaxInputsDepth = 32;

// The number a control group's file holds; nullopt: no such file, or "max".
std::optional<std::int64_t> ReadNumber(const char* path) {
  std::int64_t number = 0;
  std::ifstream file(path);
  return file >> number ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> MachineMemory() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::int64_t kib = 0;
  for (std::string line; std::getline(file, line);) {
    if (std::istringstream(line) >> name >> kib && name == "MemAvailable:") return kib * 1024;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> AvailableMemory() {
  const auto machine = MachineMemory();
  const auto limit = ReadNumber("/sys/fs/cgroup/memory.max");
  const auto used = ReadNumber("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return machine;
  const std::int64_t group = std::max<std::int64_t>(*limit - *used, 0);
  return machine ? std::min(*machine, group) : group;
}

Result<std::map<std::string, std::string>> ReadInputsFile(const std::string& path) {
  std::map<std::string, std::string> specs;
  if (path.empty()) return specs;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxInputsBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const auto wrong = [&](const std::string& why) {
    return Error{ErrorCode::kConfig, "capture.inputs_file " + path + ": " + why};
  };
  if (auto checked = CheckJson(text, kMaxInputsBytes, kMaxInputsDepth); !checked) return wrong(checked.error().message);
  const auto document = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!document.is_object()) return wrong("expected an object of input specs by model id or model_type:NAME");
  for (const auto& [name, spec] : document.items()) {
    if (!spec.is_object()) return wrong("\"" + name + "\": expected an object");
    specs[name] = spec.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return specs;
}

}  // namespace breakwatch::commands
