// Digest: a running MD5 or SHA-256.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "breakwatch/core/text.h"

namespace breakwatch::trace {

class Digest {
 public:
  explicit Digest(const char* algorithm)
      : method_(EVP_MD_fetch(nullptr, algorithm, nullptr), EVP_MD_free), context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    Begin();
  }

  // False if this machine disables the algorithm, as hardened machines do with MD5.
  bool Available() const { return begun_; }
  void Begin() { begun_ = method_ && context_ && EVP_DigestInit_ex2(context_.get(), method_.get(), nullptr) == 1; }
  void Add(std::string_view bytes) {
    if (begun_) EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size());
  }
  // Lower-case hex; the next one begins.
  std::string Take() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned size = 0;
    if (begun_) EVP_DigestFinal_ex(context_.get(), bytes.data(), &size);
    Begin();
    return Hex(std::span(bytes).first(size));
  }

 private:
  std::unique_ptr<EVP_MD, void (*)(EVP_MD*)> method_;
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> context_;
  bool begun_ = false;
};

}  // namespace breakwatch::trace
