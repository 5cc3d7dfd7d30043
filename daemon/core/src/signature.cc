#include "breakwatch/core/signature.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using Context = std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)>;

constexpr std::size_t kSignatureBytes = 64;

Result<Key> ReadKey(const std::string& path, bool is_private) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (!file) return Error{ErrorCode::kConfig, "cannot read the key " + path};
  // An empty password, so that the library does not ask for one.
  Key key(is_private ? PEM_read_PrivateKey(file.get(), nullptr, nullptr, const_cast<char*>(""))
                     : PEM_read_PUBKEY(file.get(), nullptr, nullptr, nullptr),
          EVP_PKEY_free);
  if (!key || EVP_PKEY_get_id(key.get()) != EVP_PKEY_ED25519) {
    return Error{ErrorCode::kConfig, path + " is no " + (is_private ? "private" : "public") +
                                         " ed25519 key in PEM; make one with `openssl genpkey -algorithm ed25519`" +
                                         (is_private ? "" : " and `openssl pkey -pubout`")};
  }
  return key;
}

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

std::string Base64(const std::vector<unsigned char>& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  text.resize(static_cast<std::size_t>(
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(), static_cast<int>(bytes.size()))));
  return text;
}

}  // namespace

Result<std::string> SignEd25519(std::string_view bytes, const std::string& key_file) {
  const auto key = ReadKey(key_file, /*is_private=*/true);
  if (!key) return key.error();
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::vector<unsigned char> signature(kSignatureBytes);
  std::size_t size = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key->get()) != 1 ||
      EVP_DigestSign(context.get(), signature.data(), &size, Bytes(bytes), bytes.size()) != 1)
    return Error{ErrorCode::kInternal, "cannot sign with " + key_file};
  return Base64(signature);
}

Result<void> VerifyEd25519(std::string_view bytes, std::string_view signature, const std::string& key_file) {
  const auto key = ReadKey(key_file, /*is_private=*/false);
  if (!key) return key.error();
  const Error wrong{ErrorCode::kInvalid,
                    "the signature is not by the key " + key_file + ", or the manifest was changed"};
  const std::string_view text = Trim(signature);
  std::vector<unsigned char> raw(text.size() + 3);
  const int size = text.size() > 1024 ? -1 : EVP_DecodeBlock(raw.data(), Bytes(text), static_cast<int>(text.size()));
  if (size < static_cast<int>(kSignatureBytes)) return wrong;  // the size includes padding
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  if (EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key->get()) != 1 ||
      EVP_DigestVerify(context.get(), raw.data(), kSignatureBytes, Bytes(bytes), bytes.size()) != 1)
    return wrong;
  return {};
}

}  // namespace breakwatch
