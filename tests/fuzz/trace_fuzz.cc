// For libFuzzer; tests/trace/trace_fuzz_test.cc runs the same input reader on a fixed set of bytes.
#include "fuzz/trace_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {
  breakwatch::fuzz::ReadTraceBytes({reinterpret_cast<const char*>(data), size});
  return 0;
}
