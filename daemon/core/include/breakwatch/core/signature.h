// Ed25519 signatures of manifests.
#pragma once

#include <string>
#include <string_view>

#include "breakwatch/core/result.h"

namespace breakwatch {

// The signature in base64. `key_file`: PEM, as `openssl genpkey -algorithm ed25519` writes it. Error: kConfig if the
// file is no such key.
Result<std::string> SignEd25519(std::string_view bytes, const std::string& key_file);
// `key_file`: PEM of the public key. Error: kInvalid if the signature is not that of the bytes by this key; kConfig if
// the file is no such key.
Result<void> VerifyEd25519(std::string_view bytes, std::string_view signature, const std::string& key_file);

}  // namespace breakwatch
