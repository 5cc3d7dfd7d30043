// The toolchains that a bisection captures with, and the names under which the results are stored.
#pragma once

#include <string>
#include <string_view>

namespace breakwatch::commands {

struct BisectToolchain {
  enum class Kind {
    kConfigured,  // a configured one, by its name
    kPrimary,     // the primary one under a further name, so that nothing of a bisection is published
    kMixed,       // torch of one toolchain and the rest of another
  };
  Kind kind = Kind::kConfigured;
  std::string
      name{};  // of the configured toolchain; of a mixed one, what it consists of: "torch2.14.0-transformers5.0.0"

  std::string StoredName() const;  // "old", "default-bisect", "mixed-torch2.14.0-transformers5.0.0"
};

// Of a StoredName().
BisectToolchain ParseBisectToolchain(std::string_view stored_name);

}  // namespace breakwatch::commands
