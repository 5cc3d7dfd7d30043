#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

constexpr std::size_t kMaxModel = 100;
constexpr std::int64_t kKibInGib = 1 << 20;

// The value of the first line "NAME : VALUE".
std::string ValueOf(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && Trim(line.substr(0, colon)) == name)
      return std::string(Trim(line.substr(colon + 1)));
    at = end + 1;
  }
  return "";
}

std::string ReadProc(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

std::string MachineName(std::string_view cpuinfo, std::string_view meminfo, long cores) {
  std::string model = ValueOf(cpuinfo, "model name");
  // ARM has numbers instead of a name.
  if (model.empty() && !ValueOf(cpuinfo, "CPU part").empty())
    model = "CPU implementer " + ValueOf(cpuinfo, "CPU implementer") + " part " + ValueOf(cpuinfo, "CPU part");
  if (model.empty()) model = "unknown CPU";
  // The kernel's own share of the memory differs by its version, so whole GiB are compared.
  const std::int64_t kib = std::strtoll(ValueOf(meminfo, "MemTotal").c_str(), nullptr, 10);
  return ShortLine(model, kMaxModel) + ", " + std::to_string(cores) + (cores == 1 ? " core, " : " cores, ") +
         std::to_string((kib + kKibInGib / 2) / kKibInGib) + " GiB";
}

std::string MachineName() {
  return MachineName(ReadProc("/proc/cpuinfo"), ReadProc("/proc/meminfo"), sysconf(_SC_NPROCESSORS_ONLN));
}

std::string WithMachine(std::string mode_detail_json, const std::string& machine) {
  nlohmann::json detail = nlohmann::json::parse(mode_detail_json, nullptr, /*allow_exceptions=*/false);
  if (!detail.is_object()) return mode_detail_json;
  detail["machine"] = machine;
  return JsonText(detail);
}

}  // namespace breakwatch
