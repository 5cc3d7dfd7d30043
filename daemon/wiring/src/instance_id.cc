#include "instance_id.h"

#include <fstream>
#include <random>

#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/text.h"

namespace breakwatch::wiring {
namespace {

constexpr std::size_t kUuidSize = 36;

bool IsUuid(const std::string& text) {
  return text.size() == kUuidSize && text.find_first_not_of("0123456789abcdef-") == std::string::npos;
}

std::string RandomUuid() {
  unsigned char bytes[16];
  std::random_device random;
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);  // version 4
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string text = Hex(bytes);
  for (const std::size_t at : {8, 13, 18, 23}) text.insert(at, "-");
  return text;
}

}  // namespace

Result<std::string> InstanceId(const std::string& state_dir) {
  const std::string path = state_dir + "/instance-id";
  std::string kept;
  if (std::ifstream file(path); file) std::getline(file, kept);
  if (IsUuid(kept)) return kept;
  std::string made = RandomUuid();
  if (auto folder = MakeFolder(state_dir); !folder) return folder.error();
  if (auto written = WriteWhole(path, made + "\n"); !written) return written.error();
  return made;
}

}  // namespace breakwatch::wiring
