#include "bisect_toolchain.h"

namespace breakwatch::commands {
namespace {

constexpr std::string_view kPrimarySuffix = "-bisect", kMixedPrefix = "mixed-";

}  // namespace

std::string BisectToolchain::StoredName() const {
  switch (kind) {
    case Kind::kConfigured:
      return name;
    case Kind::kPrimary:
      return name + std::string(kPrimarySuffix);
    case Kind::kMixed:
      return std::string(kMixedPrefix) + name;
  }
  return name;
}

BisectToolchain ParseBisectToolchain(std::string_view stored_name) {
  using Kind = BisectToolchain::Kind;
  if (stored_name.starts_with(kMixedPrefix)) {
    return {Kind::kMixed, std::string(stored_name.substr(kMixedPrefix.size()))};
  }
  if (stored_name.ends_with(kPrimarySuffix)) {
    return {Kind::kPrimary, std::string(stored_name.substr(0, stored_name.size() - kPrimarySuffix.size()))};
  }
  return {Kind::kConfigured, std::string(stored_name)};
}

}  // namespace breakwatch::commands
