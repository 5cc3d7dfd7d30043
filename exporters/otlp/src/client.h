// Sends one encoded request of a signal and reads the answer.
#pragma once

#include <memory>
#include <string>

#include "answers.h"
#include "breakwatch/exporters/otlp.h"

namespace breakwatch::exporters::otlp {

// Thread: its owner's, which outlives it and has the options.
class Client {
 public:
  // `once`: a second copy would be stored too, so libcurl must not send one by itself.
  Client(const OtlpOptions& options, std::unique_ptr<net::HttpSender> sender, bool once);

  // `what`: "2 events". The answer's detail begins with it and the URL.
  Answer Send(std::string body, const std::string& what);

 private:
  const OtlpOptions& options_;
  std::unique_ptr<net::HttpSender> sender_;
  const bool once_;
};

}  // namespace breakwatch::exporters::otlp
