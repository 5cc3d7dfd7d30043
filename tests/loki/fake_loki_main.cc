// A stand-in for Loki as a program: prints its URL and serves until standard input ends.
#include <cstdio>

#include "loki/fake_loki.h"

int main() {
  breakwatch::fakes::FakeLoki loki({});
  std::printf("%s\n", loki.Url().c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) continue;
}
