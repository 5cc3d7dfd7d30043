#include "about.h"

#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"

namespace breakwatch::artifact {

bool About::Healthy() const { return computes && torch == torch_headers; }

std::string AsText(const About& about) {
  std::string text = "breakwatch-runner " + about.program + "\n";
  text +=
      "torch " + about.torch + (about.torch == about.torch_headers ? "" : ", built for " + about.torch_headers) + "\n";
  text += std::string("abi ") + (about.cxx11_abi ? "cxx11" : "pre-cxx11") + "\n";
  text += "cpu " + about.cpu_capability + "\n";
  text += std::string("computes ") + (about.computes ? "yes" : "no") + "\n";
  return text;
}

std::string AsJson(const About& about) {
  const nlohmann::ordered_json object = {
      {"program", about.program},
      {"torch", about.torch},
      {"torch_headers", about.torch_headers},
      {"cxx11_abi", about.cxx11_abi},
      {"cpu_capability", about.cpu_capability},
      {"computes", about.computes},
      {"healthy", about.Healthy()},
  };
  return JsonText(object) + "\n";
}

}  // namespace breakwatch::artifact
