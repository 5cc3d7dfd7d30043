// Answers that no exporter may take for a delivery, nor for a refusal of what it sent.
#pragma once

#include <string>
#include <vector>

#include "net/scripted_server.h"

namespace breakwatch::fakes {

struct BadAnswer {
  std::string name;
  testing::Reply reply;
  bool needs_person = false;  // retried slowly
  std::string detail{};       // is part of the outcome's
};

inline std::vector<BadAnswer> BadAnswers() {
  const auto raw = [](std::string text) { return testing::Reply{.raw = std::move(text)}; };
  const std::string body(1000, 'x');
  const std::string json = R"({"status":"error","error":"the disk is full"})";
  return {
      {"one byte a second", {.status = 200, .body = body, .dribbles = true}, false, "no complete answer within"},
      {"closes in the body", {.status = 200, .body = body, .cut_short = true}},
      {"closes in the headers", raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")},
      {"closes in the status", raw("HTTP/1.1 2")},
      {"announces a body that does not come", raw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")},
      {"announces less than it sends", raw("HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nlonger than two")},
      {"announces a negative length", raw("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n")},
      {"announces a length that is no number", raw("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")},
      {"another protocol", raw("SSH-2.0-OpenSSH_9.2\r\n"), true, "does not speak HTTP"},
      {"a redirect", {307, {{"Location", "https://user:secret@new.example/x?token=1"}}}, true, "https://new.example/x"},
      {"a login page", {200, {{"Content-Type", "text/html"}}, "<html>Please sign in</html>"}, true, "Please sign in"},
      {"an error in a success", {200, {{"Content-Type", "application/json"}}, json}, true, "the disk is full"},
      {"100 kB of error text", {503, {}, "upstream failed\n" + std::string(100'000, 'e')}, false, "upstream failed"},
      {"a wrong password", {401, {}, "unauthorized\n"}, true, "401"},
  };
}

// Of a detail: one line that fits into a log.
inline constexpr std::size_t kMaxDetailBytes = 1500;

}  // namespace breakwatch::fakes
