// breakwatch-runner: runs exported artifacts with libtorch, without Python. So far it only reports its version.
#include <cstdio>
#include <string_view>

#include "about.h"

namespace {

constexpr int kExitUsage = 64, kExitOutput = 74;

int Usage() {
  std::fputs("usage: breakwatch-runner --version [--json]\n", stderr);
  return kExitUsage;
}

}  // namespace

int main(int argc, char** argv) {
  bool version = false, json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument != "--version" && argument != "--json") return Usage();
    (argument == "--json" ? json : version) = true;
  }
  if (!version) return Usage();
  const breakwatch::artifact::About about = breakwatch::artifact::AskTorch();
  std::fputs((json ? AsJson(about) : AsText(about)).c_str(), stdout);
  if (std::fflush(stdout) != 0) return kExitOutput;
  return about.Healthy() ? 0 : 1;
}
