#include "curl_setup.h"

// Debian's libcurl encrypts by OpenSSL and yet brings GnuTLS, by way of libraries for LDAP and RTMP. This is GnuTLS'
// own way for a program to say that it does not use it: nothing of it is prepared when the program starts, which is
// 0.7 MB of a daemon at rest. A libcurl that does encrypt by GnuTLS starts it itself.
// NOLINTBEGIN(bugprone-reserved-identifier): the name is GnuTLS'
extern "C" int _gnutls_global_init_skip();
extern "C" int _gnutls_global_init_skip() { return 1; }
// NOLINTEND(bugprone-reserved-identifier)

namespace breakwatch::net {

void StartCurl() {
  // Never undone: other threads may still hold handles when main returns.
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)started;
}

}  // namespace breakwatch::net
