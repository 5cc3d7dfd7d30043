// Parses and writes the messages of PROTOCOL.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/result.h"

namespace breakwatch::capture {

inline constexpr int kProtocol = 1;
inline constexpr std::size_t kMaxLine = 16u << 20;

struct Hello {
  std::int64_t protocol = 0;
  Toolchain toolchain;  // without name
};
struct Heartbeat {};
struct PhaseBegun {
  std::string job, phase;
};
struct NotUnderstood {  // the worker could not parse a line from us
  std::string message;
};
struct OfNewerProtocol {  // an unknown message type: ignored
  std::string type;
};
using Message = std::variant<Hello, Heartbeat, PhaseBegun, CaptureResult, NotUnderstood, OfNewerProtocol>;

// Error: kInvalid, with the protocol violation and at most a short quote of the line.
Result<Message> ParseMessage(std::string_view line);

// The line includes its newline.
std::string CaptureLine(const CaptureJob& job);

// At most `max` bytes of a line, safe to display.
std::string Quote(std::string_view line, std::size_t max = 200);

}  // namespace breakwatch::capture
