// Package: a folder with manifest.json and the files that it lists. Its id is the SHA-256 of the bytes of
// manifest.json.
//
// Thread: any. Only reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "breakwatch/core/artifact.h"
#include "breakwatch/core/result.h"

namespace breakwatch {

inline constexpr std::string_view kManifestFile = "manifest.json";

struct Package {
  std::string folder;
  std::string id;             // 64 hex
  std::string manifest_text;  // the bytes of manifest.json
  Manifest manifest;

  std::int64_t Bytes() const;  // of all files
};

// Reads manifest.json of a folder. Error: kNotFound if there is none; kInvalid if it cannot be used.
Result<Package> ReadPackage(const std::string& folder);
// The same of a text. Error: kInvalid.
Result<Package> ParsePackage(const std::string& manifest_text);
// Compares every file with the manifest, before anything is loaded. Error: kInvalid, naming the file and what differs:
// missing, size, digest, not a plain file, not in the manifest. kStore if a file cannot be read.
Result<Package> VerifyPackage(const std::string& folder);

// True for 64 lower-case hex digits.
bool IsSha256(std::string_view text);
// SHA-256 of a file's content, in constant memory. Error: kStore.
Result<std::string> Sha256OfFile(const std::string& path);

}  // namespace breakwatch
