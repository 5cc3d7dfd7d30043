#include "curl_setup.h"

namespace breakwatch::net {

void StartCurl() {
  // Never undone: other threads may still hold handles when main returns.
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)started;
}

}  // namespace breakwatch::net
