// The constructors behind MakeRegistry, and what the registries have in common.
#pragma once

#include <memory>
#include <string>

#include "breakwatch/exporters/registry.h"

namespace breakwatch::exporters {

inline constexpr std::string_view kDigestPrefix = "sha256:";
// Packages that a listing returns at most.
inline constexpr std::size_t kMaxListed = 1'000;

// `id`: of the package that a reference names, or its first digits; empty: none.
Result<std::unique_ptr<ArtifactRegistry>> MakeDirectoryRegistry(const std::string& path, const std::string& id,
                                                                const Clock& clock);
Result<std::unique_ptr<ArtifactRegistry>> MakeMlflowRegistry(const std::string& url, const std::string& id,
                                                             RegistryOptions options, const Clock& clock);
Result<std::unique_ptr<ArtifactRegistry>> MakeOciRegistry(const std::string& name, RegistryOptions options);

inline bool Matches(const PublishedPackage& package, const PackageQuery& query) {
  return package.package_id.starts_with(query.package_id) && (query.model.empty() || package.model == query.model) &&
         (query.target.empty() || package.target == query.target);
}

inline Error NoSuchPackage(const std::string& place) { return {ErrorCode::kNotFound, "no such package in " + place}; }

// A name that is a file of the folder itself.
inline bool IsPlainName(std::string_view name) {
  return !name.empty() && name.size() <= 128 && name != "." && name != ".." && name.find('/') == name.npos &&
         name.find('\0') == name.npos;
}

// Compares a file that was fetched with its entry. Error: kInvalid.
Result<void> CheckFetched(const std::string& path, const PackageFile& file, const std::string& place);

}  // namespace breakwatch::exporters
