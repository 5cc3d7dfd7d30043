// Formats times for messages.
#pragma once

#include <chrono>
#include <string>

namespace breakwatch::capture {

// "5 s", "0.1 s".
inline std::string Seconds(std::chrono::milliseconds time) {
  std::string text = std::to_string(time.count() / 1000);
  if (time.count() % 1000 != 0) {
    text += "." + std::to_string(time.count() % 1000 + 1000).substr(1);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + " s";
}

}  // namespace breakwatch::capture
