// libFuzzer's entry point for the reader of safetensors files: no input may crash it, every tensor lies within the
// file, and every error has a text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto tensors = breakwatch::artifact::ParseSafetensors(file);
  if (!tensors) {
    if (tensors.error().message.empty()) std::abort();
    return 0;
  }
  for (const auto& item : *tensors) {
    const std::string_view bytes = item.tensor.bytes;
    if (bytes.data() < file.data() || bytes.data() + bytes.size() > file.data() + file.size()) std::abort();
  }
  return 0;
}
