// libFuzzer's entry point for the parser of worker messages: no input may crash it, and every error has a text.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = breakwatch::capture::ParseMessage({reinterpret_cast<const char*>(data), size});
  if (!message.ok() && message.error().message.empty()) std::abort();
  return 0;
}
