#include "curl_setup.h"

// Debian's libcurl uses OpenSSL, but its LDAP and RTMP libraries also load GnuTLS. By defining this function, a program
// makes GnuTLS not initialize at program start. This saves 0.7 MB in an idle daemon. A libcurl that uses GnuTLS
// initializes it itself.
// NOLINTBEGIN(bugprone-reserved-identifier): the name is GnuTLS'
extern "C" int _gnutls_global_init_skip();
extern "C" int _gnutls_global_init_skip() { return 1; }
// NOLINTEND(bugprone-reserved-identifier)

namespace breakwatch::net {

void StartCurl() {
  // Never cleaned up: other threads may still hold handles when main returns.
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)started;
}

}  // namespace breakwatch::net
