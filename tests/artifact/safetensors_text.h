// Safetensors files as text: a header and the bytes after it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

namespace breakwatch::artifact {

inline std::string Safetensors(const std::string& header, const std::string& data) {
  const std::uint64_t size = header.size();
  std::string file(sizeof size, '\0');
  std::memcpy(file.data(), &size, sizeof size);
  return file + header + data;
}

template <class... Numbers>
std::string BytesOf(Numbers... numbers) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&numbers), sizeof numbers), ...);
  return bytes;
}

}  // namespace breakwatch::artifact
