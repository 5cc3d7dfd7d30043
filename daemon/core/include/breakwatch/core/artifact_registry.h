// ArtifactRegistry: the interface to the places where checked packages are published.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/package.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

// A package in a registry.
struct PublishedPackage {
  std::string package_id, model, revision, target;
  std::string reference;     // `artifact pull` accepts it
  std::string published_at;  // RFC 3339; empty: unknown
};

// Selects a package of a registry; an empty field matches any. Of several, the newest is meant.
struct PackageQuery {
  std::string package_id{};  // or its first digits
  std::string model{}, target{};
};

// Owner: one command. Thread: the command's.
// Error: kUnavailable if the registry does not answer, kStore if a disk is full or not writable, kNotFound, kInvalid if
// what it holds is not what was published.
class ArtifactRegistry {
 public:
  virtual ~ArtifactRegistry() = default;
  // Its name in records: "dir:/srv/models", "oci:registry.example/models".
  virtual std::string Place() const = 0;
  // Sends `files` of the package's folder, then the reference that makes them visible, and reads back what the registry
  // has. Files that it has already are not sent. Returns the reference.
  virtual Result<std::string> Publish(const Package& package, const std::vector<PackageFile>& files) = 0;
  // Writes the files of one package into `folder`, an empty one. Each is compared with its digest in the registry.
  virtual Result<void> Pull(const PackageQuery& query, const std::string& folder) = 0;
  // The newest first.
  virtual Result<std::vector<PublishedPackage>> List() = 0;
};

}  // namespace breakwatch
