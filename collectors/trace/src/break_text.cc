#include "break_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "break_message.h"
#include "break_reason.h"
#include "breakwatch/core/text.h"
#include "place.h"

namespace breakwatch::trace {
namespace {

constexpr std::size_t kNone = std::string_view::npos;
constexpr std::size_t kSourceBytes = 300;
// As the worker's: of a stack.
constexpr std::size_t kMaxStackFrames = 32, kFunctionBytes = 100, kStackSourceBytes = 160;
constexpr std::string_view kHead = "Graph break in user code at ";
constexpr std::string_view kReason = "Graph Break Reason: ", kOldReason = "Reason: ";
constexpr std::string_view kUserCode = "\n\nUser code traceback:\n", kOldUserCode = "\nUser code traceback:\n";

// Dynamo's prefixes for breaks after which it does not resume normally.
struct Prefix {
  std::string_view text, wrapped_in;
};
constexpr std::array<Prefix, 3> kPrefixes = {{
    {"Encountered graph break that we cannot resume from.", "cannot resume"},
    {"Failed to handle graph break gracefully.", "frame skipped"},
    {"Encountered graph break ", ""},
}};

struct Logged {
  std::string_view wrapped_in, message;
};

Logged Unwrap(std::string_view reason) {
  for (const Prefix& prefix : kPrefixes) {
    if (!reason.starts_with(prefix.text)) continue;
    const std::size_t end = reason.find("\n\n");
    return {prefix.wrapped_in, end == kNone ? std::string_view() : reason.substr(end + 2)};
  }
  return {"", reason};
}

// --- the place

struct Frame {
  std::string_view path, function, source;
  int line = 0;
};

int ToLine(std::string_view text) {
  int line = 0;
  std::from_chars(text.data(), text.data() + text.size(), line);
  return std::max(0, line);
}

// Where each `  File "PATH"` of a stack begins, the outermost first.
std::vector<std::size_t> FramesOf(std::string_view stack) {
  constexpr std::string_view kBegin = "\n  File \"";
  std::vector<std::size_t> begins;
  if (stack.starts_with(kBegin.substr(1))) begins.push_back(0);
  for (std::size_t at = stack.find(kBegin); at != kNone; at = stack.find(kBegin, at + 1)) begins.push_back(at + 1);
  return begins;
}

// `  File "PATH", line N, in NAME` with its line of source below.
Frame FrameAt(std::string_view stack) {
  constexpr std::string_view kFile = "  File \"", kLine = "\", line ", kIn = ", in ";
  Frame frame;
  if (!stack.starts_with(kFile)) return frame;
  stack.remove_prefix(kFile.size());
  const std::string_view head = stack.substr(0, stack.find('\n'));
  const std::size_t line = head.rfind(kLine);
  if (line == kNone) return frame;
  frame.path = head.substr(0, line);
  const std::string_view rest = head.substr(line + kLine.size());
  frame.line = ToLine(rest);
  if (const std::size_t in = rest.find(kIn); in != kNone) frame.function = rest.substr(in + kIn.size());
  stack.remove_prefix(std::min(stack.size(), head.size() + 1));
  if (stack.starts_with("    ")) frame.source = Headline(stack);
  return frame;
}

// The stack of the user's code, without the exception's own traceback after it.
std::string_view UserStack(std::string_view text) {
  for (const std::string_view end :
       {std::string_view("\nTraceback (most recent call last):"), std::string_view("\nNoneType: None"),
        std::string_view("\nNOTE: the most recent")}) {
    text = text.substr(0, text.find(end));
  }
  return text;
}

// A frame of the machinery of a call or of Dynamo itself, which no user's code has to know.
bool IsCallOfTorch(const Frame& frame) {
  return frame.path.ends_with("/torch/nn/modules/module.py") || frame.path.find("/torch/_dynamo/") != kNone;
}
bool IsTracedCall(const Frame& frame) { return frame.path.ends_with("/torch/_dynamo/eval_frame.py"); }
// The rest of a function after a break is a function that the function calls: one of the two is enough.
bool IsRestOf(const Frame& frame, const Frame& above) {
  return frame.function.starts_with("torch_dynamo_resume_in_") && frame.path == above.path &&
         PlainFunction(frame.function) == PlainFunction(above.function);
}

// From the model's forward down, where the log tells which call was traced; the innermost ones.
std::vector<Frame> UserCalls(std::string_view stack) {
  const std::vector<std::size_t> begins = FramesOf(stack);
  std::vector<Frame> frames;
  bool is_traced = false;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const Frame frame = FrameAt(stack.substr(begins[i], i + 1 < begins.size() ? begins[i + 1] - begins[i] : kNone));
    const bool is_last = i + 1 == begins.size();
    if (!is_traced && IsTracedCall(frame) && !is_last) is_traced = true, frames.clear();
    if (IsCallOfTorch(frame) && !is_last) continue;
    if (!frames.empty() && IsRestOf(frame, frames.back())) frames.pop_back();
    frames.push_back(frame);
  }
  if (frames.size() > kMaxStackFrames) frames.erase(frames.begin(), frames.end() - kMaxStackFrames);
  return frames;
}

void TakeStack(const std::vector<Frame>& frames, std::string_view torch_root, BreakSite& site) {
  for (const Frame& frame : frames) {
    site.stack.push_back(ToUtf8(RelativeFile(frame.path, torch_root).file) + ":" + std::to_string(frame.line) + " in " +
                         Clip(PlainFunction(frame.function), kFunctionBytes));
    site.stack_source.push_back(Clip(frame.source, kStackSourceBytes));
  }
}

void TakePlace(std::string_view place, const std::vector<Frame>& frames, std::string_view torch_root, UserFiles& files,
               BreakSite& site) {
  const std::size_t colon = place.rfind(':');
  const std::string_view path = place.substr(0, colon);
  site.line = colon == kNone ? 0 : ToLine(place.substr(colon + 1));
  SourceFile source = RelativeFile(path, torch_root);
  site.file = ToUtf8(source.owner == "user" ? files.Name(path) : source.file);
  site.frame = std::move(source.owner);
  if (frames.empty()) return;
  const Frame& frame = frames.back();
  if (frame.path != path || frame.line != site.line) return;  // not the stack of the broken function
  TakeStack(frames, torch_root, site);
  site.function = Clip(PlainFunction(frame.function), kSourceBytes);
  site.source_line = Clip(frame.source, kSourceBytes);
}

std::string SiteId(const BreakSite& site) {
  std::string key = site.gb_id.empty() ? site.reason : site.gb_id;
  for (const std::string* part : {&site.file, &site.function, &site.source_line}) {
    key += '\0';
    key += *part;
  }
  return Sha256Hex(key).substr(0, 16);
}

}  // namespace

std::optional<BreakSite> ParseBreak(std::string_view payload, std::string_view torch_root, UserFiles& files) {
  if (!payload.starts_with(kHead)) return std::nullopt;
  payload.remove_prefix(kHead.size());
  const std::string_view place = payload.substr(0, payload.find('\n'));
  payload.remove_prefix(std::min(payload.size(), place.size() + 1));
  const bool old = payload.starts_with(kOldReason);
  if (!old && !payload.starts_with(kReason)) return std::nullopt;
  payload.remove_prefix(old ? kOldReason.size() : kReason.size());
  const std::string_view user_code = payload.find(kUserCode) == kNone ? kOldUserCode : kUserCode;
  const std::size_t stack = payload.find(user_code);
  const std::string_view below = stack == kNone ? std::string_view() : payload.substr(stack + user_code.size());
  std::string_view reason = payload.substr(0, stack);
  reason = reason.substr(0, reason.find("\n\nStack variable source attribution:\n"));

  BreakSite site;
  site.occurrences = 1;
  const Logged logged = Unwrap(reason);
  const std::size_t at = below.find(kTraceback);
  const std::string_view traceback = at == kNone ? std::string_view() : below.substr(at);
  std::string outer;
  std::string_view message;
  if (old && !IsTyped(logged.message)) {
    message = TakeOldReason(logged.message, traceback, site);
  } else {
    message = TakeReason(logged.message, traceback, site, outer);
  }
  TakeTexts(message, site);
  if (!outer.empty() && !logged.wrapped_in.empty()) outer += " / ";
  site.wrapped_in = Bounded(outer + std::string(logged.wrapped_in));
  TakePlace(place, UserCalls(UserStack(below)), torch_root, files, site);
  site.site_id = SiteId(site);
  return site;
}

BreakSite UnloggedBreak(std::string_view message, const Unlogged& place, std::string_view torch_root,
                        UserFiles& files) {
  BreakSite site;
  site.occurrences = 1;
  if (IsTyped(message)) {
    std::string outer;
    TakeTexts(TakeReason(message, {}, site, outer), site);
    site.wrapped_in = Bounded(outer);
  } else {
    TakeTexts(TakeOldReason(message, {}, site), site);
  }
  site.wrapped_in = Bounded(site.wrapped_in + (site.wrapped_in.empty() || place.wrapped_in.empty() ? "" : " / ") +
                            std::string(place.wrapped_in));
  TakePlace(std::string(place.path) + ":" + std::to_string(place.line), {}, torch_root, files, site);
  site.function = Clip(PlainFunction(place.function), kSourceBytes);
  site.site_id = SiteId(site);
  return site;
}

bool IsOldText(std::string_view message) { return !message.empty() && !IsTyped(message); }

bool IsOldLog(std::string_view payload) {
  payload.remove_prefix(std::min(payload.size(), payload.find('\n') == kNone ? 0 : payload.find('\n') + 1));
  return payload.starts_with(kOldReason);
}

bool IsOldLog(std::string_view payload, std::string_view reason) {
  if (!IsOldLog(payload)) return false;
  payload.remove_prefix(payload.find('\n') + 1 + kOldReason.size());
  constexpr std::string_view kPrefix = "Unsupported: ";
  if (payload.starts_with(kPrefix)) payload.remove_prefix(kPrefix.size());
  payload.remove_prefix(std::min(payload.find_first_not_of("'\""), payload.size()));
  return payload.starts_with(reason);
}

}  // namespace breakwatch::trace
