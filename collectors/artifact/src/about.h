// About: what this program is and what it was linked with.
#pragma once

#include <string>

namespace breakwatch::artifact {

struct About {
  std::string program;         // version of breakwatch-runner
  std::string torch;           // of the library that was loaded
  std::string torch_headers;   // of the headers it was built with
  bool cxx11_abi = false;      // of the C++ library's strings, on our side
  std::string cpu_capability;  // instruction set the library picked: "AVX2"
  bool computes = false;       // the sum over a small tensor is correct

  // Library and headers agree, and it computes.
  bool Healthy() const;
};

// Reads the versions from the library and runs the sum.
About AskTorch();

std::string AsText(const About& about);  // lines
std::string AsJson(const About& about);  // one object

}  // namespace breakwatch::artifact
