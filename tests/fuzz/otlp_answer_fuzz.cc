// libFuzzer's entry point for answers of OTLP receivers: no input may crash the reader, and what it quotes is bounded.
#include "fuzz/otlp_answer_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {
  breakwatch::fuzz::ReadOtlpAnswer({reinterpret_cast<const char*>(data), size});
  return 0;
}
