// Reads arbitrary bytes as an answer of an OTLP receiver, in both encodings and as a success and an error.
#pragma once

#include <string>
#include <string_view>

#include "answers.h"

namespace breakwatch::fuzz {

inline void ReadOtlpAnswer(std::string_view bytes) {
  using exporters::otlp::Answer;
  for (const char* type : {"application/x-protobuf", "application/json", "text/html"}) {
    for (const int status : {200, 400, 503}) {
      const Answer answer =
          exporters::otlp::ReadAnswer(net::HttpResponse{status, {{"content-type", type}}, std::string(bytes)}, "send");
      const bool delivered = answer.outcome.delivery == Delivery::kDelivered;
      if (delivered ? status != 200 : answer.outcome.detail.empty()) __builtin_trap();
      if (answer.partial.rejected < 0 || answer.partial.message.size() > 600) __builtin_trap();
      if (answer.outcome.detail.size() > 1200) __builtin_trap();
    }
  }
}

}  // namespace breakwatch::fuzz
