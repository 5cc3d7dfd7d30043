// For libFuzzer; tests/hub/hub_list_fuzz_test.cc runs the same input reader on a fixed set of bytes.
#include "fuzz/hub_list_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {
  breakwatch::fuzz::ReadHubBytes({reinterpret_cast<const char*>(data), size});
  return 0;
}
