#include "breakwatch/engine/available_memory.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace breakwatch::engine {
namespace {

// The number in a control group file; nullopt if the file is missing or contains "max".
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

}  // namespace breakwatch::engine
